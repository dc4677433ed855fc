/* The launch of fits. */
#ifndef CUDA_FIT_H
#define CUDA_FIT_H

#include <cuda_runtime.h>

#include "backend/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FIT_DEVICE_PIXELS = 1024 }; /* most pixels of a job on a device */

/* The bytes of a scratch, the memory in which a warp fits; and how many scratches n_jobs jobs can
 * use, a multiple of the warps of a block. */
int64_t fit_scratch_size(void);
cudaError_t fit_most_scratches(int64_t n_jobs, int64_t *n);

/* Carries out the n_jobs jobs whose indices are in `order`, in this order. Pixels, jobs, order,
 * `next` and scratches are in the device's memory. */
cudaError_t launch_fits(const struct fit_pixel *pixels, struct fit_job *jobs, const int32_t *order,
                        int64_t n_jobs, unsigned long long *next, void *scratches,
                        int64_t n_scratches, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
