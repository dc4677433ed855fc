/* The Gaussians of the rows of a merged catalogue. */
#ifndef MERGED_GAUSSIANS_H
#define MERGED_GAUSSIANS_H

#include "merge/merged_rows.h"

/* Makes rows of the Gaussians that were added, in the order of their sources: those of the sources
 * that stay, with the numbers and the flag that these have. They take the place of all Gaussians in
 * the spool, so that this may be called once. False with errno. Clear them also then. */
bool merged_gaussians_make(const struct merged_rows *sources, struct merged_rows *gaussians);
void merged_gaussians_clear(struct merged_rows *gaussians);

#endif
