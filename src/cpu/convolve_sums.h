/* The inner loop of a convolution, compiled for several instruction sets. All give the same bits.
 */
#ifndef CONVOLVE_SUMS_H
#define CONVOLVE_SUMS_H

#include "backend/smoothing.h"

/* Writes n sums over the kernel. from[t][i]: the value that pixel t of the kernel multiplies for
 * sum i; from[t] NULL: 0. */
typedef void convolve_function(const struct smoothing *smoothing, const float *const *from,
                               int64_t n, float *sums);

convolve_function convolve_sums, convolve_sums_avx2, convolve_sums_avx512;

#endif
