/* What the kernels share. */
#ifndef DEVICE_CUH
#define DEVICE_CUH

#include "job.h"

enum { WARP = 32 };
static const unsigned ALL_LANES = 0xffffffffu;

static __device__ inline int lane_of_thread() {
    return threadIdx.x % WARP;
}

/* A pixel's value from what lies in memory. */
static __device__ inline float value_of(uint32_t bits, bool swapped) {
    return exact_float(swapped ? __byte_perm(bits, 0, 0x0123) : bits);
}

/* Whether a number below n_pixels belongs to a pixel. */
static __device__ inline bool is_pixel(const job &j, int64_t number) {
    return j.pitch == j.width || number % j.pitch < j.width;
}

/* ZERO: the window has it. */
template <bool ZERO> static __device__ inline bool is_core(const scan_window &w, float v) {
    return (fabsf(scan_window_distance(&w, v)) < w.half) & (!ZERO | (fabsf(v) >= w.zero_band));
}

static __device__ inline key_sums operator+(const key_sums &a, const key_sums &b) {
    return {a.m + b.m, a.square_low + b.square_low, a.square_high + b.square_high};
}

/* Numbers of 128 bits in memory, to which many threads add. A carry is known from what was there
 * before, so that the order does not matter. */
static __device__ inline void atomic_add_128(void *number, uint128 value) {
    unsigned long long *part = (unsigned long long *)number;
    const unsigned long long low = (unsigned long long)value;
    unsigned long long high = (unsigned long long)(value >> 64);
    if (low)
        high += atomicAdd(&part[0], low) + low < low ? 1 : 0;
    if (high)
        atomicAdd(&part[1], high);
}

/* Sums over the lanes of a warp, of which all take part; every lane gets them. */
template <typename T> static __device__ inline T warp_sum(T value) {
    for (int step = WARP / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, step);
    return value;
}

static __device__ inline uint128 warp_sum_128(uint128 value) {
    for (int step = WARP / 2; step > 0; step /= 2) {
        const uint64_t low = __shfl_xor_sync(ALL_LANES, (uint64_t)value, step);
        const uint64_t high = __shfl_xor_sync(ALL_LANES, (uint64_t)(value >> 64), step);
        value += (uint128)high << 64 | low;
    }
    return value;
}

template <typename T> static __device__ inline T warp_min(T value) {
    for (int step = WARP / 2; step > 0; step /= 2)
        value = min(value, __shfl_xor_sync(ALL_LANES, value, step));
    return value;
}

template <typename T> static __device__ inline T warp_max(T value) {
    for (int step = WARP / 2; step > 0; step /= 2)
        value = max(value, __shfl_xor_sync(ALL_LANES, value, step));
    return value;
}

/* The sum over the lanes before this one. */
template <typename T> static __device__ inline T warp_sum_before(T value) {
    T sum = value;
    for (int step = 1; step < WARP; step *= 2) {
        const T other = __shfl_up_sync(ALL_LANES, sum, step);
        sum += lane_of_thread() >= step ? other : 0;
    }
    return sum - value;
}

/* Begins the words of sums over blocks anew; by all threads of one block. */
static __device__ inline void clear_blocks(const job &j) {
    for (int64_t i = threadIdx.x; i < j.tile_words + j.run_words; i += blockDim.x)
        j.tile_blocks[i] = 0;
}

/* What a kernel begins with that is launched by launch_next: waits for the end of all before it. */
static __device__ inline void wait_for_earlier() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Launches a kernel whose blocks may be made ready while those of the kernel before it end. */
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
    config.numAttrs = !status && compiled.ptxVersion >= 90 ? 1 : 0; /* else it would not wait */
    return status ? status : cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/* How many blocks of a kernel fill the device; no more than there is work for. */
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

#endif
