/* Copies pixels that the caller has on the device, where some become blank or all are negated: the
 * caller's own pixels stay as they are. */
#include "device.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    change(const uint32_t *from, int64_t row_stride, int64_t width, int64_t height,
           pixel_change change, uint32_t *to) {
    const int64_t n = width * height, step = (int64_t)gridDim.x * THREADS;
    wait_for_earlier();
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
        const int64_t y = i / width;
        to[i] = changed_pixel(from[y * row_stride + (i - y * width)], change);
    }
}

cudaError_t launch_change(const uint32_t *from, int64_t row_stride, int64_t width, int64_t height,
                          const struct pixel_change *how, uint32_t *to, cudaStream_t stream) {
    const int64_t work = (width * height + THREADS - 1) / THREADS;
    return launch_filling(change, THREADS, work, stream, from, row_stride, width, height, *how, to);
}
