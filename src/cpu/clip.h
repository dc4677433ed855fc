/* Exact kappa-sigma clipping, whatever way the pixels are stored: each round takes the median and
 * the standard deviation and removes the pixels that are too far from the median, until a round
 * removes none. */
#ifndef CLIP_H
#define CLIP_H

#include "backend/scan_plan.h"

/* A set of pixels. Only its smallest and its largest pixels are ever removed. */
struct clip_set {
    struct exact_sums sums; /* of the pixels that are left */
    int64_t n;              /* the number of pixels that are left */
    void *state;
    /* Gives the k-th smallest (from 0) of the pixels that are left. False if the set does not know
     * it. */
    bool (*select)(struct clip_set *set, int64_t k, float *value);
    /* Keeps the pixels from low to high, both inclusive. False if the set does not know which
     * pixels these are. */
    bool (*trim)(struct clip_set *set, float low, float high);
};

/* Clips a set that is not empty. Fills median, rms, mean, n_kept and empty of b, and adds to its
 * rounds. False if select or trim of the set returned false: the set is then as the last complete
 * round left it, and another call continues the clip. */
bool clip_run(struct clip_set *set, double kappa, struct srcfind_background *b);

#endif
