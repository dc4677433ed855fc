/* Where keys stand among the bins, and those of a list among all pixels. */
#ifndef BINS_CUH
#define BINS_CUH

#include "device.cuh"
#include "backend/listed_ranks.h"

/* A bin's parts, in one load. */
static __device__ inline bin_parts load_bin(const bin_parts *parts, uint32_t bin) {
    static_assert(sizeof *parts == sizeof(uint32_t), "one word");
    const uint32_t word = reinterpret_cast<const uint32_t *>(parts)[bin];
    return {(uint16_t)word, (uint16_t)(word >> 16)};
}

/* The number of a key's part. */
static __device__ inline uint32_t part_of(const bin_parts *parts, const bin_scale &scale,
                                          uint32_t key) {
    const uint32_t place = bin_place(&scale, exact_unkey(key));
    return bin_part(load_bin(parts, place >> PLACE_BITS), place);
}

/* Of WARP * WARP threads, which have so many values before their own, the last that has no more
 * than n; by a warp. */
template <typename T, typename U>
static __device__ inline int warp_thread_at(const T *before, U n) {
    const int rows = __popc(__ballot_sync(ALL_LANES, before[WARP * lane_of_thread()] <= n));
    const int first = WARP * max(rows - 1, 0);
    const bool counts = before[first + lane_of_thread()] <= n;
    return first + max(__popc(__ballot_sync(ALL_LANES, counts)) - 1, 0);
}

/* Keys that were listed; none of a list that had no room. */
static __device__ inline int64_t count_keys(const job &j) {
    const int64_t n = (int64_t)j.state->totals.n_listed;
    return j.state->scan_wanted && n <= j.list_room ? n : 0;
}

/* Sets the members that do not ask where a value stands: all keys are left. */
static __device__ inline void start_ranks(const job &j, listed_ranks *r) {
    const scan_totals &t = j.state->totals;
    r->first = 0;
    r->last = (int64_t)t.n_listed;
    r->n_zero = (int64_t)t.n_zero;
    r->n_core = j.width * j.height - r->last - (int64_t)(t.n_zero + t.n_blank);
    r->n_below = (int64_t)t.n_below;
}

#endif
