/* The one read of the image. A warp takes a tile at a time: pixels of the core are summed in
 * registers; the others go to a list, whose order does not matter; candidates and blanks to maps of
 * a bit a pixel, and the candidates' values, in the order of the pixels, to a place that the tile
 * knows. */
#include "device.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    WORDS = TILE / WARP, /* of a tile in a map: one a lane */
    AT_ONCE = 8,         /* words whose pixels a warp loads before it looks at the first */
    SHARED_KEYS = 1024,  /* of each warp's list, until it is written out */
};

/* What a lane adds up. */
struct lane_sums {
    int64_t sum;
    uint64_t square_low, square_high;
    unsigned n_core, n_below, n_zero, n_blank;
};

struct warp_list {
    uint32_t *keys; /* in shared memory */
    int n;
};

static __device__ inline unsigned lanes_before() {
    return (1u << lane_of_thread()) - 1;
}

static __device__ void write_list(const job &j, warp_list *list) {
    unsigned long long first = 0;
    __syncwarp();
    if (lane_of_thread() == 0 && list->n > 0)
        first = atomicAdd(&j.state->totals.n_listed, (unsigned long long)list->n);
    first = __shfl_sync(ALL_LANES, first, 0);
    for (int i = lane_of_thread(); i < list->n; i += WARP)
        if (first + i < (unsigned long long)j.list_room)
            j.list[0][first + i] = list->keys[i];
    __syncwarp();
    list->n = 0;
}

/* Sums a pixel if it is of the core, or lists it. */
static __device__ inline void sort_out(const scan_plan &plan, float v, bool there, lane_sums *sums,
                                       warp_list *list) {
    const bool inside =
        v > plan.core_low && v < plan.core_high && !(v >= plan.median_low && v <= plan.median_high);
    const bool added = there && inside && fabsf(v) >= plan.zero_band;
    const bool zero = there && v == 0;
    const bool listed = there && isfinite(v) && !added && !zero;
    const int64_t q = added ? __float2int_rn(v * plan.scale) : 0;
    const uint64_t square = (uint64_t)(q * q);
    sums->sum += q;
    sums->square_low += (uint32_t)square;
    sums->square_high += square >> 32;
    sums->n_core += added;
    sums->n_below += added && v < plan.median_low;
    sums->n_zero += zero;
    const unsigned listed_lanes = __ballot_sync(ALL_LANES, listed);
    if (listed) {
        list->keys[list->n + __popc(listed_lanes & lanes_before())] = exact_key(v);
    }
    list->n += __popc(listed_lanes);
}

/* Loads a pixel, if it is `there`. */
static __device__ inline uint32_t load(const job &j, const uint32_t *pixels, int64_t first,
                                       int64_t number, int64_t end, bool *there) {
    *there = number < end && is_pixel(j, number);
    return *there ? __ldg(&pixels[number - first]) : 0;
}

/* Writes the values of a tile's candidates, which are loaded once more: they are few. Each lane has
 * the bits of a word. */
static __device__ void write_candidates(const job &j, const uint32_t *pixels, int64_t first,
                                        int64_t tile, uint32_t word) {
    const unsigned n = __popc(word), before = warp_sum_before(n), total = warp_sum(n);
    unsigned long long to = 0;
    if (lane_of_thread() == 0 && total > 0)
        to = atomicAdd(&j.state->totals.n_candidates, (unsigned long long)total);
    to = __shfl_sync(ALL_LANES, to, 0);
    if (lane_of_thread() == 0)
        j.tile_value[tile] = (int64_t)to;
    if (to + total > (unsigned long long)j.values_room)
        return;
    for (unsigned lanes = __ballot_sync(ALL_LANES, n > 0); lanes; lanes &= lanes - 1) {
        const int lane = __ffs(lanes) - 1;
        const unsigned long long place = to + __shfl_sync(ALL_LANES, before, lane);
        const uint32_t bits = __shfl_sync(ALL_LANES, word, lane);
        const int64_t number = tile * TILE + lane * WARP + lane_of_thread();
        if (bits >> lane_of_thread() & 1)
            j.values[place + __popc(bits & lanes_before())] =
                value_of(pixels[number - first], j.swapped);
    }
}

static __device__ void scan_tile(const job &j, const scan_plan &plan, const uint32_t *pixels,
                                 int64_t first, int64_t end, int64_t tile, lane_sums *sums,
                                 warp_list *list) {
    const int lane = lane_of_thread();
    uint32_t candidates = 0, blank = 0; /* the lane's words of the maps */
    for (int word = 0; word < WORDS; word += AT_ONCE) {
        uint32_t bits[AT_ONCE];
        bool there[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            bits[i] =
                load(j, pixels, first, tile * TILE + (word + i) * WARP + lane, end, &there[i]);
        if (list->n > SHARED_KEYS - AT_ONCE * WARP)
            write_list(j, list);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const float v = value_of(bits[i], j.swapped);
            const bool is_blank = there[i] && !isfinite(v);
            if (plan.list_values)
                sort_out(plan, v, there[i], sums, list);
            const unsigned placed =
                __ballot_sync(ALL_LANES, there[i] && isfinite(v) && v >= plan.candidate);
            const unsigned blanks = __ballot_sync(ALL_LANES, is_blank);
            sums->n_blank += is_blank;
            if (word + i == lane) {
                candidates = placed;
                blank = blanks;
            }
        }
    }
    j.candidates[tile * WORDS + lane] = candidates;
    j.blank[tile * WORDS + lane] = blank;
    write_candidates(j, pixels, first, tile, candidates);
}

static __device__ void write_sums(scan_totals *totals, const lane_sums &sums) {
    const int128 sum = (int128)warp_sum(sums.sum);
    const uint128 square = warp_sum(sums.square_low) + ((uint128)warp_sum(sums.square_high) << 32);
    const unsigned long long n_core = warp_sum((unsigned long long)sums.n_core);
    const unsigned long long n_below = warp_sum((unsigned long long)sums.n_below);
    const unsigned long long n_zero = warp_sum((unsigned long long)sums.n_zero);
    const unsigned long long n_blank = warp_sum((unsigned long long)sums.n_blank);
    if (lane_of_thread() > 0)
        return;
    atomic_add_128(&totals->sum, (uint128)sum);
    atomic_add_128(&totals->square, square);
    atomicAdd(&totals->n_core, n_core);
    atomicAdd(&totals->n_below, n_below);
    atomicAdd(&totals->n_zero, n_zero);
    atomicAdd(&totals->n_blank, n_blank);
}

static __global__ void __launch_bounds__(THREADS)
    scan(const __grid_constant__ job j, const uint32_t *pixels, int64_t first, int64_t count) {
    __shared__ uint32_t keys[WARPS][SHARED_KEYS];
    const int warp = threadIdx.x / WARP;
    const scan_plan plan = j.state->plan;
    const int64_t n_tiles = (count + TILE - 1) / TILE;
    lane_sums sums = {};
    warp_list list = {keys[warp], 0};
    if (!j.state->scan_wanted)
        return;
    for (int64_t i = (int64_t)blockIdx.x * WARPS + warp; i < n_tiles;
         i += (int64_t)gridDim.x * WARPS)
        scan_tile(j, plan, pixels, first, first + count, first / TILE + i, &sums, &list);
    write_list(j, &list);
    write_sums(&j.state->totals, sums);
}

cudaError_t launch_scan(const struct job *job, const uint32_t *pixels, int64_t first, int64_t count,
                        cudaStream_t stream) {
    unsigned blocks;
    const int64_t n_tiles = (count + TILE - 1) / TILE;
    const cudaError_t status = blocks_for(scan, THREADS, (n_tiles + WARPS - 1) / WARPS, &blocks);
    if (status)
        return status;
    scan<<<blocks, THREADS, 0, stream>>>(*job, pixels, first, count);
    return cudaGetLastError();
}

cudaError_t launch_clear_list(const struct job *job, cudaStream_t stream) {
    return cudaMemsetAsync(job->list[0], 0xff, (size_t)job->list_room * sizeof *job->list[0],
                           stream);
}

static __global__ void set_plan(const __grid_constant__ job j, scan_plan plan) {
    j.state->plan = plan;
    j.state->scan_wanted = true;
    j.state->totals = {};
}

cudaError_t launch_plan_of_host(const struct job *job, const struct scan_plan *plan,
                                cudaStream_t stream) {
    set_plan<<<1, 1, 0, stream>>>(*job, *plan);
    return cudaGetLastError();
}
