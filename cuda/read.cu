/* A plain read of an image, with which --bench compares a search. */
#include "device.cuh"

enum { THREADS = 256, AT_ONCE = 4 };

/* The sum is written if it has one improbable value, so that the compiler keeps the reads. */
static __global__ void __launch_bounds__(THREADS)
    read(const uint4 *quads, int64_t n, uint32_t *sink) {
    uint32_t sum = 0;
    const int64_t step = (int64_t)gridDim.x * THREADS;
    wait_for_earlier();
    for (int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x; first < n;
         first += AT_ONCE * step) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const uint4 q =
                first + i * step < n ? __ldg(&quads[first + i * step]) : make_uint4(0, 0, 0, 0);
            sum += q.x ^ q.y ^ q.z ^ q.w;
        }
    }
    if (sum == 0x5eed5eed)
        *sink = sum;
}

cudaError_t launch_read(const uint32_t *pixels, int64_t n, uint32_t *sink, cudaStream_t stream) {
    const int64_t n_quads = n / 4;
    return launch_filling(read, THREADS, (n_quads + THREADS - 1) / THREADS, stream,
                          reinterpret_cast<const uint4 *>(pixels), n_quads, sink);
}
