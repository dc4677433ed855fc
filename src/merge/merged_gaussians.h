/* The Gaussians of the rows of a merged catalogue. */
#ifndef MERGED_GAUSSIANS_H
#define MERGED_GAUSSIANS_H

#include "merge/merged_rows.h"

/* Makes the rows of the Gaussians whose sources stay, in the order of the sources, with the numbers
 * and the flags of these sources. They are written over the Gaussians in the spool: to be called
 * once. False with errno. Clear them also then. */
bool merged_gaussians_make(const struct merged_rows *sources, struct merged_rows *gaussians);
void merged_gaussians_clear(struct merged_rows *gaussians);

#endif
