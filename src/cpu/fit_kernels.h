/* The variants of a fit: the same code, compiled for vectors of two, four and eight doubles. All
 * give the same bits. */
#ifndef FIT_KERNELS_H
#define FIT_KERNELS_H

#include "backend/fit.h"

/* The bytes of memory that a fit of n pixels needs. */
size_t fit_memory_size(int64_t n_pixels);

/* Carries out a job in such memory, aligned as malloc does. */
typedef void fit_kernel(const struct fit_pixel *pixels, struct fit_job *job, void *memory);

fit_kernel fit_with_2, fit_with_4, fit_with_8;

#endif
