/* Sums over pixels in 32 lanes, for both compilers. On a GPU a warp fits, and each of its threads
 * is a lane. On the CPU one thread fits, and `lanes` is a vector of FIT_WIDTH neighbouring lanes.
 * Both do the same operations on the same numbers in the same order, so that all results have the
 * same bits.
 *
 * Code that is not about pixels is written for all threads of a warp, too: each computes the same
 * scalars. What is stored for all of them is stored by one thread, in a loop FIT_EACH whose
 * iterations do not depend on each other, and is read after FIT_SYNC. */
#ifndef FIT_LANES_H
#define FIT_LANES_H

#include "backend/fit.h"

#ifdef __CUDACC__

#define FIT_FUNCTION static __device__ __forceinline__
#define FIT_SEPARATE static __device__ __noinline__
#define FIT_UNROLL _Pragma("unroll")
#define FIT_EACH(i, n) for (int i = threadIdx.x % FIT_LANES; i < (n); i += FIT_LANES)
#define FIT_SYNC() __syncwarp()
#define FIT_EACH_LANES(first) /* one iteration, of the thread's own lane */                        \
    for (int first = threadIdx.x % FIT_LANES; first < FIT_LANES; first += FIT_LANES)

#define FIT_VECTOR FIT_LANES /* pixels that are worked on at once */
typedef double lanes;
typedef uint64_t lane_bits;

/* n sums over all lanes */
#define FIT_SUMS(name, n) double name[n][1]

FIT_FUNCTION lanes lanes_all(double x) {
    return x;
}

FIT_FUNCTION lanes lanes_load(const double *from) {
    return *from;
}

FIT_FUNCTION void lanes_store(double *to, lanes x) {
    *to = x;
}

FIT_FUNCTION lane_bits lanes_to_bits(lanes x) {
    return (uint64_t)__double_as_longlong(x);
}

FIT_FUNCTION lanes lanes_from_bits(lane_bits bits) {
    return __longlong_as_double((long long)bits);
}

FIT_FUNCTION lanes lanes_max(lanes a, lanes b) {
    return a > b ? a : b;
}

/* x where a > b, else 0 */
FIT_FUNCTION lanes lanes_where_above(lanes a, lanes b, lanes x) {
    return a > b ? x : 0;
}

/* Whether a > b in a lane of the warp. */
FIT_FUNCTION bool lanes_any_above(lanes a, lanes b) {
    return __any_sync(0xffffffffu, a > b);
}

FIT_FUNCTION void lanes_keep(double *sum, int first, lanes x) {
    (void)first;
    *sum = x;
}

/* The sum over all lanes: in halves, so that its order is that of the vectors. */
FIT_FUNCTION double lanes_total(const double *sum) {
    double x = *sum;
    for (int step = FIT_LANES / 2; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

#else

#define FIT_FUNCTION static inline __attribute__((always_inline))
#define FIT_SEPARATE static
#define FIT_UNROLL _Pragma("GCC unroll 8")
#define FIT_EACH(i, n) for (int i = 0; i < (n); i++)
#define FIT_SYNC() ((void)0)
#define FIT_EACH_LANES(first) for (int first = 0; first < FIT_LANES; first += FIT_WIDTH)

#define FIT_VECTOR FIT_WIDTH
typedef double lanes __attribute__((vector_size(FIT_WIDTH * sizeof(double))));
typedef uint64_t lane_bits __attribute__((vector_size(FIT_WIDTH * sizeof(uint64_t))));

/* n sums over all lanes */
#define FIT_SUMS(name, n) double name[n][FIT_LANES]

/* A finite x in each lane. */
FIT_FUNCTION lanes lanes_all(double x) {
    return x + (lanes){0};
}

FIT_FUNCTION lanes lanes_load(const double *from) {
    lanes x;
    memcpy(&x, from, sizeof x);
    return x;
}

FIT_FUNCTION void lanes_store(double *to, lanes x) {
    memcpy(to, &x, sizeof x);
}

FIT_FUNCTION lane_bits lanes_to_bits(lanes x) {
    return (lane_bits)x;
}

FIT_FUNCTION lanes lanes_from_bits(lane_bits bits) {
    return (lanes)bits;
}

/* x where a > b, else 0 */
FIT_FUNCTION lanes lanes_where_above(lanes a, lanes b, lanes x) {
    return (lanes)((lane_bits)(a > b) & (lane_bits)x);
}

FIT_FUNCTION lanes lanes_max(lanes a, lanes b) {
    const lane_bits above = (lane_bits)(a > b);
    return (lanes)((above & (lane_bits)a) | (~above & (lane_bits)b));
}

/* Whether a > b in a lane of the vector. */
FIT_FUNCTION bool lanes_any_above(lanes a, lanes b) {
    const lane_bits above = (lane_bits)(a > b);
    uint64_t any = 0;
    FIT_UNROLL for (int i = 0; i < FIT_WIDTH; i++) any |= above[i];
    return any;
}

FIT_FUNCTION void lanes_keep(double *sum, int first, lanes x) {
    lanes_store(sum + first, x);
}

/* The sum over all lanes: in halves, so that its order is that of a warp. Destroys them. */
FIT_FUNCTION double lanes_total(double *sum) {
    for (int step = FIT_LANES / 2; step > 0; step /= 2)
        for (int i = 0; i < step; i++)
            sum[i] += sum[i + step];
    return sum[0];
}

#endif
#endif
