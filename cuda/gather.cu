/* Gathers the pixels of runs: a warp copies one run after another. */
#include "device.cuh"

enum { THREADS = 256, WARPS = THREADS / WARP };

static __global__ void __launch_bounds__(THREADS)
    gather(const uint32_t *pixels, int64_t pitch, bool swapped, const run *runs,
           const int64_t *first, int64_t n, float *values) {
    const int64_t step = (int64_t)gridDim.x * WARPS;
    wait_for_earlier();
    for (int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP; i < n; i += step) {
        const run r = runs[i];
        const uint32_t *const from = pixels + r.y * pitch + r.x0;
        float *const to = values + first[i];
        for (int64_t k = lane_of_thread(); k <= (int64_t)r.x1 - r.x0; k += WARP)
            to[k] = pixel_value(from[k], swapped);
    }
}

cudaError_t launch_gather(const uint32_t *pixels, int64_t pitch, bool swapped,
                          const struct run *runs, const int64_t *first, int64_t n, float *values,
                          cudaStream_t stream) {
    return launch_filling(gather, THREADS, (n + WARPS - 1) / WARPS, stream, pixels, pitch, swapped,
                          runs, first, n, values);
}
