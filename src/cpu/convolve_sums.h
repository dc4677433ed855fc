/* The inner loop of a convolution, compiled for several instruction sets. All give the same bits.
 */
#ifndef CONVOLVE_SUMS_H
#define CONVOLVE_SUMS_H

#include "backend/smoothing.h"

/* Writes n sums over the n_kernel pixels of a kernel. from[t][i]: the value that pixel t of the
 * kernel multiplies for sum i; from[t] NULL: 0. */
typedef void convolve_function(const float *kernel, int64_t n_kernel, const float *const *from,
                               int64_t n, float *sums);

convolve_function convolve_sums, convolve_sums_avx2, convolve_sums_avx512;

#endif
