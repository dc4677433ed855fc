/* Device functions and launchers that the kernels share. */
#ifndef DEVICE_CUH
#define DEVICE_CUH

#include "params.h"

enum { WARP = 32 };
static const unsigned ALL_LANES = 0xffffffffu;

static __device__ inline int lane_of_thread() {
    return threadIdx.x % WARP;
}

/* A mask of the lanes before this one. */
static __device__ inline unsigned lanes_before() {
    return (1u << lane_of_thread()) - 1;
}

/* The value of a pixel from its bits in memory, in either byte order. */
static __device__ inline float pixel_value(uint32_t bits, bool swapped) {
    return exact_float(__byte_perm(bits, 0, swapped ? 0x0123 : 0x3210));
}

/* Whether a number below n_pixels is that of a pixel. */
static __device__ inline bool is_pixel(const params &params, int64_t number) {
    return params.pitch == params.width || number % params.pitch < params.width;
}

/* The row of a pixel. 64-bit divisions are slow and avoided where numbers fit in 32 bits. */
static __device__ inline int64_t row_of(const params &params, int64_t pixel) {
    return params.n_pixels < (int64_t)1 << 31 ? (uint32_t)pixel / (uint32_t)params.pitch
                                              : pixel / params.pitch;
}

static __device__ inline key_sums operator+(const key_sums &a, const key_sums &b) {
    return {a.m + b.m, a.square_low + b.square_low, a.square_high + b.square_high};
}

/* The sum over the lanes of a warp, returned to each. All lanes take part. */
template <typename T> static __device__ inline T warp_sum(T value) {
    for (int step = WARP / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, step);
    return value;
}

/* The same, in one instruction on devices that have it. */
static __device__ inline unsigned warp_sum(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_LANES, value);
#else
    return warp_sum<unsigned>(value);
#endif
}

static __device__ inline int warp_sum(int value) {
    return (int)warp_sum((unsigned)value);
}

static __device__ inline uint128 warp_sum_128(uint128 value) {
    for (int step = WARP / 2; step > 0; step /= 2) {
        const uint64_t low = __shfl_xor_sync(ALL_LANES, (uint64_t)value, step);
        const uint64_t high = __shfl_xor_sync(ALL_LANES, (uint64_t)(value >> 64), step);
        value += (uint128)high << 64 | low;
    }
    return value;
}

template <typename T> static __device__ inline T warp_max(T value) {
    for (int step = WARP / 2; step > 0; step /= 2)
        value = max(value, __shfl_xor_sync(ALL_LANES, value, step));
    return value;
}

/* The sum over the lanes before this one. All lanes take part. */
template <typename T> static __device__ inline T warp_sum_before(T value) {
    T sum = value;
    for (int step = 1; step < WARP; step *= 2) {
        const T other = __shfl_up_sync(ALL_LANES, sum, step);
        sum += lane_of_thread() >= step ? other : 0;
    }
    return sum - value;
}

/* The sum over the threads before this one in the block; all threads take part. `shared` has one
 * element per warp. */
template <typename T> static __device__ inline T block_sum_before(T value, T *shared) {
    const T before = warp_sum_before(value);
    if (lane_of_thread() == WARP - 1)
        shared[threadIdx.x / WARP] = before + value;
    __syncthreads();
    const bool is_before = lane_of_thread() < (int)threadIdx.x / WARP;
    const T sum = before + warp_sum(is_before ? shared[lane_of_thread()] : 0);
    __syncthreads();
    return sum;
}

/* Waits until the kernels before this one have ended. Every kernel that launch_next launches calls
 * it before it touches global memory. */
static __device__ inline void wait_for_earlier() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Launches a kernel with programmatic stream serialization: its blocks may start while the kernel
 * before it ends, and then wait in wait_for_earlier. */
template <typename... Parameters, typename... Arguments>
static inline cudaError_t launch_next(void (*kernel)(Parameters...), unsigned blocks, int threads,
                                      cudaStream_t stream, const Arguments &...arguments) {
    cudaFuncAttributes compiled;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = (unsigned)threads;
    config.stream = stream;
    config.attrs = &early;
    const cudaError_t status = cudaFuncGetAttributes(&compiled, kernel);
    config.numAttrs = !status && compiled.ptxVersion >= 90 ? 1 : 0; /* older code has no wait */
    return status ? status : cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/* Sets *blocks to the number of blocks that fill the device, at most `work` and at least 1. */
template <typename Kernel>
static inline cudaError_t blocks_for(Kernel *kernel, int threads, int64_t work, unsigned *blocks) {
    int device = 0, processors = 0, each = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (!status)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (!status)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0);
    const int64_t most = (int64_t)processors * each;
    *blocks = (unsigned)(work < 1 ? 1 : work < most ? work : most);
    return status;
}

/* Launches a kernel as launch_next does, with as many blocks as blocks_for finds. */
template <typename... Parameters, typename... Arguments>
static inline cudaError_t launch_filling(void (*kernel)(Parameters...), int threads, int64_t work,
                                         cudaStream_t stream, const Arguments &...arguments) {
    unsigned blocks;
    const cudaError_t status = blocks_for(kernel, threads, work, &blocks);
    return status ? status : launch_next(kernel, blocks, threads, stream, arguments...);
}

#endif
