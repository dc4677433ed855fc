/* The pixels of groups of places, and their sums for least squares. */
#ifndef PLACE_SUMS_H
#define PLACE_SUMS_H

#include "measure/place_groups.h"
#include "measure/run_pixels.h"

/* The runs of groups: the pixels that any of their places uses. */
struct place_runs {
    struct run_set *sets; /* of each group */
    int64_t n, n_pixels;
    struct run *runs;
    int64_t n_runs, runs_capacity, sets_capacity;
};

/* Adds the runs of a group, in an image of this size. */
bool place_runs_add(struct place_runs *runs, const struct place *places,
                    const struct place_group *group, int64_t width, int64_t height);

/* Sets where the runs of all sets are, once the last one was added. */
void place_runs_finish(struct place_runs *runs);
void place_runs_clear(struct place_runs *runs);

/* The nearest pixel of a place, and counts of the pixels that it uses. */
struct place_pixels {
    double above; /* value - background of the nearest pixel; NAN: blank */
    struct noise_at noise;
    int64_t n, n_missing; /* pixels with and without a value */
    double chi2;          /* the sum of (residual / rms)^2 over its pixels, if it is wanted */
    double sampled,
        weight; /* of a sample: sums of value - background times weights, and of weights */
};

/* Sums over the pixels of a group of n places that have a value. */
struct place_sums {
    double *normal;  /* n x n: w_i g_k, the weights of a place and the shape of another one */
    double *squares; /* n x n, set on and below the diagonal: w_i w_k */
    double *right;   /* n: (value - background) w_i */
    double *cross;   /* n_others x n: w_i times the shape of another place */
};

/* Allocates the sums of a group. */
bool place_sums_make(const struct place_group *group, struct place_sums *sums);
void place_sums_free(struct place_sums *sums);

/* Adds the pixels of a group to its sums, which are 0, and sets `known` of its members; `known` has
 * an element for each place. */
void place_sums_add(const struct place *places, const struct place_group *group,
                    const struct run_set *set, const struct run_pixels *pixels,
                    struct place_sums *sums, struct place_pixels *known);

/* Adds the residuals of a group's pixels to chi2 of its members, which is 0. */
void place_residuals_add(const struct place *places, const struct place_group *group,
                         const struct run_set *set, const struct run_pixels *pixels,
                         const struct amplitude *amplitudes, struct place_pixels *known);

#endif
