/* The one read of the image. A warp takes a tile at a time: pixels of the core are summed in
 * registers; the others go to a list, whose order does not matter; candidates and blanks to maps of
 * a bit a pixel, and the candidates' values, in the order of the pixels, to a place that the tile
 * knows. The loop is as short as can be: what is rare stands behind a branch for the whole warp. */
#include "device.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    WORDS = TILE / WARP, /* of a tile in a map: one a lane */
    AT_ONCE = 8,         /* words whose pixels a warp loads before it looks at the first */
    SHARED_VALUES = 1024 /* of each warp's list, until it is written out */
};

/* What a lane adds up of q = high * 2^16 + low, and counts. */
struct lane_sums {
    int64_t high, low, high_high, high_low, low_low;
    unsigned n_below, n_zero, n_blank;
};

struct warp_list {
    float *values; /* in shared memory */
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
            j.list[0][first + i] = exact_key(list->values[i]);
    __syncwarp();
    list->n = 0;
}

/* Without branches. */
static __device__ inline bool is_core(const scan_plan &plan, float v) {
    return (v > plan.core_low) & (v < plan.core_high) &
           !((v >= plan.median_low) & (v <= plan.median_high)) & (fabsf(v) >= plan.zero_band);
}

/* sum += a * b, in one instruction. */
static __device__ inline void add_product(int64_t *sum, int a, int b) {
    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(*sum) : "r"(a), "r"(b));
}

/* Sums over a lane's pixels of one tile: of the upper half of q; and of the lower half, with how
 * many are below the medians in bits that this cannot reach. */
struct tile_sums {
    int high, low;
};
enum { ONE_BELOW = 1 << 24 };

static __device__ inline void add(const scan_plan &plan, float v, bool added, lane_sums *sums,
                                  tile_sums *tile) {
    const int q = __float2int_rn(added ? v * plan.scale : 0.0f);
    const int high = q >> 16, low = q & 0xffff;
    tile->high += high;
    tile->low += low + (added & (v < plan.median_low) ? ONE_BELOW : 0);
    add_product(&sums->high_high, high, high);
    add_product(&sums->high_low, high, low);
    add_product(&sums->low_low, low, low);
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

/* The maps' words of a lane. */
struct map_words {
    uint32_t candidates, blank;
};

/* Marks a word's candidates and blanks, counts zeros, and says which of the pixels that are not of
 * the core are left to be listed. */
static __device__ bool look_at_rare(const scan_plan &plan, float v, bool there, bool listed,
                                    int word, map_words *words, lane_sums *sums) {
    const bool is_blank = there && !isfinite(v), is_zero = there && v == 0;
    const unsigned candidates = __ballot_sync(ALL_LANES, there && !is_blank && v >= plan.candidate);
    const unsigned blank = __ballot_sync(ALL_LANES, is_blank);
    sums->n_blank += is_blank;
    sums->n_zero += is_zero;
    if (word == lane_of_thread()) {
        words->candidates = candidates;
        words->blank = blank;
    }
    return listed && !is_blank && !is_zero;
}

/* A pixel of each lane; LIST: also for the clip. */
template <bool LIST>
static __device__ inline void look_at(const scan_plan &plan, float v, bool there, int word,
                                      map_words *words, lane_sums *sums, tile_sums *tile,
                                      warp_list *list) {
    bool listed = false;
    if (LIST) {
        const bool added = there & is_core(plan, v);
        add(plan, v, added, sums, tile);
        listed = there & !added;
    }
    const bool rare = there & (!(v < plan.candidate) | (v == 0) | (v == -INFINITY));
    if (__any_sync(ALL_LANES, rare))
        listed = look_at_rare(plan, v, there, listed, word, words, sums);
    if (LIST) {
        const unsigned lanes = __ballot_sync(ALL_LANES, listed);
        if (listed)
            list->values[list->n + __popc(lanes & lanes_before())] = v;
        list->n += __popc(lanes);
    }
}

/* A tile that is WHOLE has all its pixels. */
template <bool LIST, bool WHOLE>
static __device__ void scan_tile(const job &j, const scan_plan &plan, const uint32_t *pixels,
                                 int64_t first, int64_t end, int64_t tile, lane_sums *sums,
                                 warp_list *list) {
    const int lane = lane_of_thread();
    const uint32_t *const at = pixels + (tile * TILE - first) + lane;
    map_words words = {0, 0};
    tile_sums of_tile = {0, 0};
    for (int word = 0; word < WORDS; word += AT_ONCE) {
        uint32_t bits[AT_ONCE];
        bool there[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t number = tile * TILE + (word + i) * WARP + lane;
            there[i] = WHOLE || (number < end && is_pixel(j, number));
            bits[i] = there[i] ? __ldg(at + (word + i) * WARP) : 0;
        }
        if (LIST && list->n > SHARED_VALUES - AT_ONCE * WARP)
            write_list(j, list);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            look_at<LIST>(plan, value_of(bits[i], j.swapped), there[i], word + i, &words, sums,
                          &of_tile, list);
    }
    sums->high += of_tile.high;
    sums->low += of_tile.low % ONE_BELOW;
    sums->n_below += of_tile.low / ONE_BELOW;
    j.candidates[tile * WORDS + lane] = words.candidates;
    j.blank[tile * WORDS + lane] = words.blank;
    write_candidates(j, pixels, first, tile, words.candidates);
}

template <bool LIST>
static __device__ void scan_tiles(const job &j, const scan_plan &plan, const uint32_t *pixels,
                                  int64_t first, int64_t end, lane_sums *sums, warp_list *list) {
    const int64_t end_tile = (end + TILE - 1) / TILE, step = (int64_t)gridDim.x * WARPS;
    const int64_t start = first / TILE + (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    for (int64_t tile = start; tile < end_tile; tile += step)
        if (j.pitch == j.width && (tile + 1) * TILE <= end)
            scan_tile<LIST, true>(j, plan, pixels, first, end, tile, sums, list);
        else
            scan_tile<LIST, false>(j, plan, pixels, first, end, tile, sums, list);
}

static __device__ void write_sums(scan_totals *totals, const lane_sums &s) {
    const int128 sum = (int128)warp_sum(s.high) * 65536 + warp_sum(s.low);
    const int128 square = ((int128)warp_sum(s.high_high) << 32) +
                          (int128)warp_sum(s.high_low) * (2 * 65536) + warp_sum(s.low_low);
    const unsigned long long n_below = warp_sum((unsigned long long)s.n_below);
    const unsigned long long n_zero = warp_sum((unsigned long long)s.n_zero);
    const unsigned long long n_blank = warp_sum((unsigned long long)s.n_blank);
    if (lane_of_thread() > 0)
        return;
    atomic_add_128(&totals->sum, (uint128)sum);
    atomic_add_128(&totals->square, (uint128)square);
    atomicAdd(&totals->n_below, n_below);
    atomicAdd(&totals->n_zero, n_zero);
    atomicAdd(&totals->n_blank, n_blank);
}

static __global__ void __launch_bounds__(THREADS)
    scan(const __grid_constant__ job j, const uint32_t *pixels, int64_t first, int64_t count) {
    __shared__ float values[WARPS][SHARED_VALUES];
    const scan_plan plan = j.state->plan;
    lane_sums sums = {};
    warp_list list = {values[threadIdx.x / WARP], 0};
    if (!j.state->scan_wanted)
        return;
    if (plan.list_values)
        scan_tiles<true>(j, plan, pixels, first, first + count, &sums, &list);
    else
        scan_tiles<false>(j, plan, pixels, first, first + count, &sums, &list);
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
