/* A position in an image, the Gaussian that is held there, and its amplitude. */
#ifndef PLACE_H
#define PLACE_H

#include "backend/gaussian.h"

struct place {
    double x, y;
    struct tensor moments; /* of the shape, pixels^2; NaN where the nearest pixel alone is used */
    struct tensor form;    /* its inverse */
    /* The pixels that are used: the nearest one, and those at offsets whose form is at most
     * `square`: that of one FWHM. 0: the nearest pixel alone. */
    double square;
    double reach_x, reach_y; /* how far they reach on both sides */
    bool is_wide;            /* of a scale: local background would have its emission in it */
    bool is_left_out; /* not fitted: its shape is as flat as a background, or it is of a crowd */
    bool is_crowded;  /* it is one of a crowd: its flux means nothing */
    int64_t row;
    int64_t twin; /* the first place with the same position and shape, which has the result */
    /* Whose parts several places may be, and what its two sums of amplitudes multiply each with. */
    int64_t source;
    double weight[2];
};

/* The result of a place. */
struct amplitude {
    double value;   /* 0 if it is not fitted */
    double per_rms; /* its error / rms */
    bool is_fitted;
    bool is_shared; /* it is that of another place, which cannot be told from this one */
    /* Alone the amplitude means nothing: its error is a hundred times that of a lone place, it is
     * one of a crowd, or the sweeps did not converge. It is subtracted from others, and counts in
     * the sum of its source. */
    bool is_uncertain;
    double change; /* by the last sweep, in its errors */
    /* Of all places of its source in the group: the variances of the sums of amplitudes times
     * weights; 0 but for the first of them that is fitted. */
    double variance[2];
    double taken; /* by how much fitting it lowers the expected sum of (residual / rms)^2 */
};

static inline int64_t place_nearest(double x) {
    const double below = floor(x);
    return (int64_t)below + (x - below >= 0.5);
}

/* Takes the shape of a place away: nothing is fitted there. */
static inline void place_leave_out(struct place *p) {
    p->is_left_out = true;
    p->moments = p->form = (struct tensor){0, 0, 0};
    p->square = p->reach_x = p->reach_y = 0;
}

/* Eight sigma: beyond it a shape counts as 0, so that amplitudes are right to 1e-13. */
static const double PLACE_REACH = 64;

/* Five and a half sigma: what the other parts of a cluster have beyond it, less than 3e-7 of their
 * peaks, is not subtracted. */
static const double PLACE_REACH_OF_OTHERS = 30;

/* The value of a place's shape at a pixel, for an amplitude of 1. */
static inline double place_shape_at(const struct place *p, double x, double y) {
    const double dx = x - p->x, dy = y - p->y;
    const double square = p->form.xx * dx * dx + 2 * p->form.xy * dx * dy + p->form.yy * dy * dy;
    return square < PLACE_REACH ? gaussian_exp(-0.5 * square) : 0;
}

#endif
