/* Sums over pixels that are whole numbers q, below 2^31 in magnitude, of some unit. */
#ifndef CORE_SUMS_CUH
#define CORE_SUMS_CUH

#include "device.cuh"

/* Sums of q and q^2. */
struct core_sums {
    int64_t sum;
    uint64_t square_low, square_high; /* of the lower and upper 32 bits of sums of squares */
};

/* Adds the sum of up to four squares. */
static __device__ inline void add_squares(core_sums *sums, uint64_t squares) {
    sums->square_low += (uint32_t)squares;
    sums->square_high += squares >> 32;
}

static __device__ inline void add_to(core_sums *sums, int q) {
    sums->sum += q;
    add_squares(sums, (uint64_t)((int64_t)q * q));
}

static __device__ inline core_sums warp_sum(const core_sums &s) {
    return {warp_sum(s.sum), warp_sum(s.square_low), warp_sum(s.square_high)};
}

static __device__ inline void operator+=(core_sums &to, const core_sums &s) {
    to.sum += s.sum;
    to.square_low += s.square_low;
    to.square_high += s.square_high;
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

static __device__ inline void add_to_totals(core_totals *totals, const core_sums &s) {
    atomic_add_128(&totals->sum, (uint128)(int128)s.sum);
    atomic_add_128(&totals->square, ((uint128)s.square_high << 32) + s.square_low);
}

#endif
