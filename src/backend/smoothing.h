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

/* The samples lie around the middle of the image: those of a mirrored image are mirrored. A sample
 * may be between two pixels, and may lie outside of the image, where it is blank. */
struct smoothing {
    int64_t step;
    int64_t width, height; /* samples */
    /* The kernel of sample (i, j) has n_x x n_y pixels, from pixel (step i + left, step j + top)
     * on; the sample is in its middle. */
    int64_t left, top, n_x, n_y;
    float *kernel_x, *kernel_y; /* its values along an axis, whose sum is 1; symmetric */
};

/* The place of sample 0 along an axis, in pixels; first, n: of the kernel. */
EXACT_FUNCTION double smoothing_centre(int64_t first, int64_t n) {
    return (double)first + (double)(n - 1) / 2;
}

/* The pixels in the middle of a kernel of n pixels, along an axis: the same one, or two. A sample
 * is blank where one of them is blank, or outside of the image. */
EXACT_FUNCTION int64_t smoothing_low(int64_t n) {
    return (n - 1) / 2;
}

EXACT_FUNCTION int64_t smoothing_high(int64_t n) {
    return n / 2;
}

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
