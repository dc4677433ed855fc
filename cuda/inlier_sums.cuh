/* Sums over inliers. Their values are integers q of some unit, with |q| < 2^31. */
#ifndef INLIER_SUMS_CUH
#define INLIER_SUMS_CUH

#include "device.cuh"

/* Sums of q and q^2. */
struct inlier_sums {
    int64_t sum;
    uint64_t square_low, square_high; /* sums over the lower and the upper 32 bits of the squares */
};

/* Adds a sum of up to four squares. */
static __device__ inline void add_squares(inlier_sums *sums, uint64_t squares) {
    sums->square_low += (uint32_t)squares;
    sums->square_high += squares >> 32;
}

static __device__ inline void add_to(inlier_sums *sums, int q) {
    sums->sum += q;
    add_squares(sums, (uint64_t)((int64_t)q * q));
}

static __device__ inline inlier_sums warp_sum(const inlier_sums &s) {
    return {warp_sum(s.sum), warp_sum(s.square_low), warp_sum(s.square_high)};
}

static __device__ inline void operator+=(inlier_sums &to, const inlier_sums &s) {
    to.sum += s.sum;
    to.square_low += s.square_low;
    to.square_high += s.square_high;
}

/* Adds to a number of 128 bits in global memory, to which other threads add at the same time. The
 * old value of the lower half tells whether it overflows, so that the order of threads does not
 * matter. */
static __device__ inline void atomic_add_128(void *number, uint128 value) {
    unsigned long long *halves = (unsigned long long *)number;
    const unsigned long long low = (unsigned long long)value;
    unsigned long long high = (unsigned long long)(value >> 64);
    if (low)
        high += atomicAdd(&halves[0], low) + low < low ? 1 : 0;
    if (high)
        atomicAdd(&halves[1], high);
}

static __device__ inline void add_to_totals(inlier_totals *totals, const inlier_sums &s) {
    atomic_add_128(&totals->sum, (uint128)(int128)s.sum);
    atomic_add_128(&totals->square, ((uint128)s.square_high << 32) + s.square_low);
}

#endif
