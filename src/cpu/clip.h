/* Exact kappa-sigma clipping, apart from how the pixels are kept: rounds of median, standard
 * deviation and removal until nothing goes. */
#ifndef CLIP_H
#define CLIP_H

#include "backend/scan_plan.h"

/* A set of pixels that only ever loses its ends. */
struct clip_set {
    struct exact_sums sums; /* of the pixels that are left */
    int64_t n;              /* how many are left */
    void *state;
    /* The k-th smallest (from 0) of the pixels that are left; false if the set cannot tell. */
    bool (*select)(struct clip_set *set, int64_t k, float *value);
    /* Keeps the pixels from low to high, both inclusive; false if the set cannot tell which. */
    bool (*trim)(struct clip_set *set, float low, float high);
};

/* Clips a set that is not empty. Fills median, rms, mean, n_kept and empty of b, adds to its
 * rounds. False if the set could not tell what was asked of it: it is as the last whole round left
 * it, and may be clipped on. */
bool clip_run(struct clip_set *set, double kappa, struct srcfind_background *b);

#endif
