/* The sums of a smoothed image along rows and columns, on the CPU: see backend/smoothing.h. */
#ifndef CONVOLVE_H
#define CONVOLVE_H

#include <stdbool.h>

#include "cpu/convolve_sums.h"

/* The buffers with which a thread convolves rows. */
struct convolver {
    const struct smoothing *smoothing;
    convolve_function *sums; /* of this processor */
    int64_t length;          /* of a phase */
    float *phases;           /* the pixels of a row, by their number modulo the step */
    const float **from;      /* of each pixel of the kernel: where the first sum has its factor */
};

/* Clear the convolver, also after a failure. The smoothing must outlive it. */
bool convolver_make(struct convolver *convolver, const struct smoothing *smoothing);
void convolver_clear(struct convolver *convolver);

/* Writes the sums along a row of `width` values, which are 0 where blank, to sums[0 ...
 * smoothing->width - 1]. */
void convolve_row(struct convolver *convolver, const float *values, int64_t width, float *sums);

#endif
