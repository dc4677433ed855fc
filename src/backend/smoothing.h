/* The convolution of a scale: its samples, and the order of its sums, which is the same on all
 * backends.
 *
 * A sample is the sum of kernel(t) value(t) over the pixels that are not blank, divided by that of
 * kernel(t): along the rows first, then along the columns. Each of these sums is a chain in
 * float32, which begins with 0 and adds one product after the other, from the first pixel of the
 * kernel to the last; a pixel that is blank or outside of the image adds 0 to both. */
#ifndef SMOOTHING_H
#define SMOOTHING_H

#include "backend/gaussian.h"

/* Sample (i, j) is at pixel (step i + offset, step j + offset). */
struct smoothing {
    int64_t step, offset;
    int64_t width, height; /* samples */
    int64_t radius;        /* of the kernel: it has 2 radius + 1 pixels along each axis */
    float *kernel;         /* its values along an axis, whose sum is 1; symmetric */
};

/* The model that is subtracted from the image before: the sum of Gaussians, in their order. The
 * Gaussians that reach cell i are gaussians[reaching[first[i]]] ... gaussians[reaching[first[i + 1]
 * - 1]], where cell i is in the order of the pixels. */
struct smoothing_model {
    const struct gaussian *gaussians;
    int64_t n;
    const int64_t *first;
    const int32_t *reaching;
    int64_t n_x, n_y, side;
};

/* A sample is blank if less than this share of its kernel is on pixels that are not: near edges
 * noise grows faster than boxes of local noise can follow. */
static const float SMOOTHING_LEAST = 0.9F;

/* A kernel ends at four sigma. */
static const double SMOOTHING_REACH = 4;

/* A sample, from both sums. NaN: it is blank, or overflows. */
EXACT_FUNCTION float smoothing_sample(float sum, float weight) {
    const float value = sum / weight;
    return weight >= SMOOTHING_LEAST && value - value == 0 ? value : NAN;
}

#endif
