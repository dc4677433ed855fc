/* Which sources of a scale stay, and which join those that they lie beside. */
#ifndef JOIN_H
#define JOIN_H

#include "output/result.h"

/* Leaves out sources of a scale whose fits do not bear out what their islands promise: those that
 * no fit tells from a point, and whose flux is less than its error. False where memory ran out. */
bool keep_certain(struct sources *sources);

/* Adds sources of a scale to those that they join: their Gaussians and fluxes. Positions, sizes and
 * labels of these stay. more: rows whose islands are numbered from 1; source: the number, from 0,
 * of the source that each island joins; reach: how far from the box of its pixels the centre may
 * be, in pixels. Left out is what is no rest of the source: a row without a fit, with a centre
 * beyond reach, with less flux than its error, or with more than the source. False: memory ran out,
 * and `sources` and `more` can only be cleared. */
bool join_sources(struct sources *sources, struct sources *more, const int64_t *source,
                  double reach);

#endif
