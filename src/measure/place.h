/* A position in an image, the Gaussian that is held there, and its amplitude. */
#ifndef PLACE_H
#define PLACE_H

#include "backend/gaussian.h"

struct place {
    double x, y;
    struct tensor moments; /* of the shape, pixels^2; NaN: none, and the image is sampled there */
    struct tensor form;    /* its inverse */
    /* The pixels that are used: the nearest one, and those at offsets whose form is at most
     * `square`: that of one FWHM. 0: the nearest pixel alone, or those of a sample. */
    double square;
    bool is_sampled;         /* the value of the image at the place is wanted: place_samples.h */
    double reach_x, reach_y; /* how far these pixels reach on both sides */
    double power;            /* pixels have the weights shape^(1 + power) */
    bool is_wide;            /* of a scale: its emission would be in a local background */
    bool is_left_out; /* not fitted: its shape is as flat as a background, or too many places are
                         there */
    bool is_crowded;  /* one of a crowd: its flux means nothing */
    int64_t row;
    int64_t twin; /* the first place with the same position and shape: it has the result */
    /* The source this place belongs to; its weights in total flux and in peak flux. */
    int64_t source;
    double weight[2];
};

/* The result of a place. */
struct amplitude {
    double value;   /* 0 if it is not fitted */
    double per_rms; /* its error / rms */
    double lone;    /* the same, if the place were alone */
    bool is_fitted;
    bool is_shared; /* the amplitude of another place, which cannot be told from this one */
    /* The amplitude alone means nothing: its error is above a hundred times that of a lone place,
     * it is one of a crowd, or the sweeps did not converge. It still counts in the sum of its
     * source, and is subtracted from other places. */
    bool is_uncertain;
    double change; /* of the last sweep, in units of its error */
    /* The variances of the two sums of weights x amplitudes over its source's places in the group;
     * only the first fitted place has them, others 0. */
    double variance[2];
    double taken; /* expected fall of the sum of (residual / rms)^2 by its fit */
};

static inline int64_t place_nearest(double x) {
    const double below = floor(x);
    return (int64_t)below + (x - below >= 0.5);
}

/* Removes the shape of a place: nothing is fitted there. */
static inline void place_leave_out(struct place *p) {
    p->is_left_out = true;
    p->moments = p->form = (struct tensor){0, 0, 0};
    p->square = p->reach_x = p->reach_y = 0;
}

/* Eight sigma: a shape counts as 0 beyond; amplitudes are right to 1e-13. */
static const double PLACE_REACH = 64;

/* Five and a half sigma: places of other parts of a cluster are not subtracted beyond, where they
 * are less than 3e-7 of their peaks. */
static const double PLACE_REACH_OF_OTHERS = 30;

/* The value of a place's shape at a pixel, for an amplitude of 1. */
static inline double place_shape_at(const struct place *p, double x, double y) {
    const double dx = x - p->x, dy = y - p->y;
    const double square = p->form.xx * dx * dx + 2 * p->form.xy * dx * dy + p->form.yy * dy * dy;
    return square < PLACE_REACH ? gaussian_exp(-0.5 * square) : 0;
}

/* How far the pixels of a sample reach on both sides. */
static const double PLACE_SAMPLE_REACH = 3;

/* The weight of a pixel at an offset along an axis from a sample: sinc(x) sinc(x / 3), Lanczos'
 * window (Duchon 1979, J. Appl. Meteor. 18, 1016). The peak of a point is right to 0.7% at a FWHM
 * of 2.5 pixels and more, where the nearest pixel is 7% too low on average, and 2% at 5. */
static inline double place_sample_weight(double x) {
    const double turn = M_PI * x;
    if (x == 0)
        return 1;
    return fabs(x) < PLACE_SAMPLE_REACH ? 3 * sin(turn) * sin(turn / 3) / (turn * turn) : 0;
}

/* A place whose shape is the weights of another one. */
static inline struct place place_weights(const struct place *p) {
    const double power = 1 + p->power;
    struct place weights = *p;
    weights.moments =
        (struct tensor){p->moments.xx / power, p->moments.yy / power, p->moments.xy / power};
    weights.form = (struct tensor){p->form.xx * power, p->form.yy * power, p->form.xy * power};
    return weights;
}

#endif
