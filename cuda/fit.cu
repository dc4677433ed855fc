/* Fits: a warp carries out one job after another. */
#include "fit.h"

#include "backend/fit_island.h"
#include "device.cuh"

enum { THREADS = 128, WARPS = THREADS / WARP };

/* The memory of a warp. */
struct scratch {
    fit_memory memory;
    double arrays[FIT_ARRAYS * FIT_DEVICE_PIXELS];
};

/* *next: the next job of the order that no warp has taken. */
static __global__ void __launch_bounds__(THREADS)
    fit_jobs(const fit_pixel *pixels, fit_job *jobs, const int32_t *order, int64_t n,
             unsigned long long *next, scratch *scratches) {
    scratch *const mine = &scratches[(int64_t)blockIdx.x * WARPS + threadIdx.x / WARP];
    for (;;) {
        unsigned long long k = lane_of_thread() == 0 ? atomicAdd(next, 1ull) : 0;
        k = __shfl_sync(ALL_LANES, k, 0);
        if (k >= (unsigned long long)n)
            return;
        fit_island(&mine->memory, mine->arrays, pixels, &jobs[order[k]]);
    }
}

int64_t fit_scratch_size(void) {
    return (int64_t)sizeof(scratch);
}

cudaError_t fit_most_scratches(int64_t n_jobs, int64_t *n) {
    unsigned blocks;
    const cudaError_t code = blocks_for(fit_jobs, THREADS, (n_jobs + WARPS - 1) / WARPS, &blocks);
    *n = (int64_t)blocks * WARPS;
    return code;
}

cudaError_t launch_fits(const struct fit_pixel *pixels, struct fit_job *jobs, const int32_t *order,
                        int64_t n_jobs, unsigned long long *next, void *scratches,
                        int64_t n_scratches, cudaStream_t stream) {
    const cudaError_t code = cudaMemsetAsync(next, 0, sizeof *next, stream);
    if (code)
        return code;
    fit_jobs<<<(unsigned)(n_scratches / WARPS), THREADS, 0, stream>>>(pixels, jobs, order, n_jobs,
                                                                      next, (scratch *)scratches);
    return cudaGetLastError();
}
