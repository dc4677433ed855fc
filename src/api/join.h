/* Flux that a scale finds beside a source, and that is then the source's. */
#ifndef JOIN_H
#define JOIN_H

#include "output/result.h"

/* Adds sources of a scale to those that they join: their Gaussians and fluxes. Positions, sizes and
 * labels of these stay. more: rows whose islands are numbered from 1; source: the number, from 0,
 * of the source that each island joins. A row without a fit is left out. False: memory ran out, and
 * `sources` can only be cleared. */
bool join_sources(struct sources *sources, const struct sources *more, const int64_t *source);

#endif
