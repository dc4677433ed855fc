/* What the islands of a scale are: sources of their own, the faint rest of a source that was found
 * before, or neither. Smoothing blends sources too faint to be found, and carries what fits left of
 * bright ones: what is only just above the threshold is often no source. */
#ifndef SCALE_ISLANDS_H
#define SCALE_ISLANDS_H

#include "measure/view.h"
#include "srcfind.h"

enum scale_island {
    ISLAND_IS_SOURCE, /* above the threshold, and certain; or wide, and beside no source */
    ISLAND_JOINS,     /* the rest of a source that it is beside */
    ISLAND_IS_DOUBT,  /* above the threshold, and beside no source */
    SCALE_ISLANDS,
    ISLAND_IS_LEFT = SCALE_ISLANDS /* none of these: left to the next scale */
};

/* The islands of one kind. */
struct scale_islands {
    struct segments segments;
    int64_t *source; /* the row that each island of ISLAND_JOINS joins, from 0 */
};

/* How high an island beside a source must be, in rms. */
double scale_islands_threshold(const struct detection *detection);

/* How far outside of the box of a source's pixels a place of the image is, in pixels, along the
 * axis where it is farther; from the source's position, where it has no pixels. Negative inside. */
double scale_islands_distance(const struct srcfind_source *source, double x, double y);

/* The distance within which flux may join a source. */
double scale_islands_reach(const struct grid *grid);

/* Divides the islands of a view of samples, which keep their runs, by kind; they stay with the
 * view. threshold: of the search, in rms. frame: of fits in the image. rows: all n sources so far.
 * Clear all kinds, also after a failure: false where memory ran out. */
bool scale_islands_divide(const struct view *samples, double threshold,
                          const struct fit_frame *frame, const struct srcfind_source *rows,
                          int64_t n, struct scale_islands kinds[SCALE_ISLANDS]);
void scale_islands_clear(struct scale_islands kinds[SCALE_ISLANDS]);

#endif
