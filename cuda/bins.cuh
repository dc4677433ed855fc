/* Where values stand among the bins of job.h, and the keys of a list among all pixels. */
#ifndef BINS_CUH
#define BINS_CUH

#include "device.cuh"
#include "listed_ranks.h"

/* Each bin has 2^PLACE_BITS places. */
enum { PLACE_BITS = 23 - OCTAVE_BITS };

/* The number of a value's place, in the order of the values. What is further out than all bins is
 * at the ends. */
static __device__ inline uint32_t bin_place(const bin_scale &scale, float v) {
    const float x = (v - scale.centre) * scale.per_unit;
    const uint32_t side = (uint32_t)SIDE << PLACE_BITS;
    const uint32_t step = min(__float_as_uint(1 + fabsf(x)) - __float_as_uint(1.0f), side - 1);
    return x < 0 ? side - 1 - step : side + step;
}

/* The distance of the lower bound of step i, from the centre outwards. */
static __device__ inline float step_bound(int i) {
    return __uint_as_float(((uint32_t)i << PLACE_BITS) + __float_as_uint(1.0f)) - 1;
}

/* The distance from the centre, in units, at some part (0 to 1) of a bin. */
static __device__ inline float bin_x(int bin, float part) {
    const int i = bin < SIDE ? SIDE - 1 - bin : bin - SIDE;
    const float near = step_bound(i), far = step_bound(i + 1);
    return bin < SIDE ? -(far + (near - far) * part) : near + (far - near) * part;
}

/* A bin's parts, in one load. */
static __device__ inline bin_parts load_bin(const bin_parts *parts, uint32_t bin) {
    static_assert(sizeof *parts == sizeof(uint32_t), "one word");
    const uint32_t word = reinterpret_cast<const uint32_t *>(parts)[bin];
    return {(uint16_t)word, (uint16_t)(word >> 16)};
}

/* The number of a key's part. */
static __device__ inline uint32_t part_of(const bin_parts *parts, const bin_scale &scale,
                                          uint32_t key) {
    const uint32_t place = bin_place(scale, exact_unkey(key));
    const bin_parts bin = load_bin(parts, place >> PLACE_BITS);
    return bin.first + (place % (1u << PLACE_BITS) * bin.n >> PLACE_BITS);
}

/* Of some threads, which have so many values before their own, the last that has no more than n. */
template <typename T, typename U>
static __device__ inline int thread_at(const T *before, int threads, U n) {
    int low = 0, high = threads - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (before[middle] <= n)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
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
