/* From candidates to the moments of islands: pixels above the threshold become runs, which are cut
 * at the ends of tiles; runs that touch are joined by union-find, where the earlier root wins, so
 * that an island's root is its first run and the roots' order is that of the labels; and what
 * belongs to an island is added up by integer atomics, in no order. */
#include "device.cuh"
#include "edges.h"
#include "moments.h"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    LANE_PIXELS = TILE / WARP, /* 32: a word of a map */
    WARP_TILES = TILES_A_BLOCK / WARPS,
    THREAD_RUNS = RUNS_A_BLOCK / THREADS,
};
static_assert((int)TILES_A_BLOCK % WARPS == 0 && (int)RUNS_A_BLOCK % THREADS == 0, "whole shares");

/* Whether there is something to find, and all candidates are at hand. */
static __device__ bool is_ready(const job &j) {
    const state &s = *j.state;
    return s.thresholds.detection < INFINITY && s.plan.candidate <= s.thresholds.island &&
           s.totals.n_candidates <= (unsigned long long)j.values_room;
}

/* The row of a pixel. Divisions of 64 bits take long. */
static __device__ int64_t row_of(const job &j, int64_t pixel) {
    return j.n_pixels < (int64_t)1 << 31 ? (uint32_t)pixel / (uint32_t)j.pitch : pixel / j.pitch;
}

/* --- sums over the blocks before one --- */

/* What a block has found, and its kind, in one word. A block publishes its own sum at once, and
 * that up to its end as soon as it knows it; so that whoever looks back need not look far, and one
 * read does for counting and for writing (Merrill and Garland 2016, NVIDIA technical report
 * 2016-002). The first of the words counts blocks as they begin: those before a block have begun,
 * too. */
enum word_kind { NOTHING, OWN, COMPLETE };
enum { KIND_BITS = 2 };

struct block_shared {
    int64_t warps[WARPS];
    int64_t block, before;
};

/* The number of the block, in the order in which blocks begin. */
static __device__ int64_t take_ticket(unsigned long long *words, block_shared *shared) {
    if (threadIdx.x == 0)
        shared->block = (int64_t)atomicAdd(&words[0], 1);
    __syncthreads();
    return shared->block;
}

static __device__ void publish(unsigned long long *words, int64_t block, word_kind kind,
                               int64_t sum) {
    atomicExch(&words[1 + block], (unsigned long long)sum << KIND_BITS | kind);
}

/* The sum over all blocks before one; by a warp. */
static __device__ int64_t look_back(unsigned long long *words, int64_t block) {
    int64_t sum = 0;
    for (int64_t at = block - 1 - lane_of_thread();; at -= WARP) {
        unsigned long long word;
        do
            word = at >= 0 ? *(volatile unsigned long long *)&words[1 + at] : COMPLETE;
        while (__any_sync(ALL_LANES, word == NOTHING));
        const bool complete = word % (1 << KIND_BITS) == COMPLETE;
        const unsigned ends = __ballot_sync(ALL_LANES, complete);
        const bool counts = ends == 0 || lane_of_thread() < __ffs(ends);
        sum += warp_sum(counts ? (int64_t)(word >> KIND_BITS) : 0);
        if (ends)
            return sum;
    }
}

/* The sum of n over the threads before this one, of this block and of all before it; all threads
 * take part. */
static __device__ int64_t sum_before(unsigned long long *words, int64_t block, int n,
                                     block_shared *shared) {
    const int warp = threadIdx.x / WARP;
    const int before = warp_sum_before(n);
    if (lane_of_thread() == WARP - 1)
        shared->warps[warp] = before + n;
    __syncthreads();
    if (warp == 0) {
        const int64_t own =
            warp_sum(lane_of_thread() < WARPS ? shared->warps[lane_of_thread()] : 0);
        if (lane_of_thread() == 0)
            publish(words, block, OWN, own);
        const int64_t of_blocks = look_back(words, block);
        if (lane_of_thread() == 0) {
            publish(words, block, COMPLETE, of_blocks + own);
            shared->before = of_blocks;
        }
    }
    __syncthreads();
    int64_t sum = shared->before + before;
    for (int i = 0; i < warp; i++)
        sum += shared->warps[i];
    return sum;
}

/* --- runs --- */

/* The pixels of a lane, one after the other, a bit each. */
struct lane_pixels {
    uint32_t candidates, starts, ends; /* the first and the last pixels of runs */
    int64_t first;                     /* pixel */
    int64_t value;                     /* of its first candidate */
};

/* A tile's map of candidates, a word a lane, and the first of its values. */
struct tile_words {
    uint32_t candidates;
    int n;         /* candidates of the tile */
    int64_t value; /* where the first one's is */
    bool above;    /* whether the lane-th one is above the threshold */
};

/* Some tiles at a time, so that what is to be loaded of them is under way together. */
static __device__ void load_tiles(const job &j, int64_t first, tile_words tiles[WARP_TILES]) {
    const float threshold = j.state->thresholds.island;
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++)
        tiles[i].candidates =
            first + i < j.n_tiles ? j.candidates[(first + i) * WARP + lane_of_thread()] : 0;
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        tiles[i].n = warp_sum(__popc(tiles[i].candidates));
        tiles[i].value = tiles[i].n > 0 ? j.tile_value[first + i] : 0;
    }
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++)
        tiles[i].above = lane_of_thread() < tiles[i].n &&
                         j.values[tiles[i].value + lane_of_thread()] >= threshold;
}

/* Which of a lane's candidates are above the threshold: bit k for the k-th of them. `before` of the
 * tile's belong to the lanes before. */
static __device__ uint32_t test_values(const job &j, const tile_words &tile, int before) {
    const float threshold = j.state->thresholds.island;
    uint32_t mine = 0;
    for (int first = 0; first < tile.n; first += WARP) {
        const int i = first + lane_of_thread();
        const uint64_t above = __ballot_sync(
            ALL_LANES,
            first == 0 ? tile.above : i < tile.n && j.values[tile.value + i] >= threshold);
        const int shift = before - first;
        if (shift > -WARP && shift < WARP)
            mine |= (uint32_t)(shift >= 0 ? above >> shift : above << -shift);
    }
    return mine;
}

/* Gives each bit of `mask` the next one of `bits`. */
static __device__ uint32_t deposit(uint32_t bits, uint32_t mask) {
    uint32_t result = 0;
    for (; mask && bits; mask &= mask - 1, bits >>= 1)
        if (bits & 1)
            result |= mask & -mask;
    return result;
}

/* Pixels that are the first of a row. */
static __device__ uint32_t row_starts(const job &j, int64_t first) {
    uint32_t starts = 0;
    for (int64_t i = (row_of(j, first + j.pitch - 1) * j.pitch) - first; i < LANE_PIXELS;
         i += j.pitch)
        starts |= 1u << i;
    return starts;
}

/* A warp takes a tile apart. */
static __device__ lane_pixels take_apart(const job &j, int64_t number, const tile_words &tile) {
    const int lane = lane_of_thread();
    lane_pixels p = {};
    if (tile.n == 0)
        return p;
    p.candidates = tile.candidates;
    p.first = number * TILE + lane * LANE_PIXELS;
    const int n = __popc(p.candidates), before_lane = warp_sum_before(n);
    p.value = tile.value + before_lane;
    const uint32_t all = n < WARP ? (1u << n) - 1 : ~0u;
    const uint32_t bits = test_values(j, tile, before_lane) & all;
    const uint32_t above = bits == all ? p.candidates : deposit(bits, p.candidates);
    const uint32_t rows = row_starts(j, p.first);
    const uint32_t last_before = __shfl_up_sync(ALL_LANES, above >> (LANE_PIXELS - 1), 1);
    const uint32_t first_after = __shfl_down_sync(ALL_LANES, above & ~rows & 1, 1);
    const uint32_t before = above << 1 | (lane > 0 ? last_before : 0);
    const uint32_t goes_on = (above & ~rows) >> 1 | (lane < WARP - 1 ? first_after : 0)
                                                        << (LANE_PIXELS - 1);
    p.starts = above & (~before | rows);
    p.ends = above & ~goes_on;
    return p;
}

/* Writes a lane's runs behind those of the lanes before; a run may begin in one lane and end in
 * another. */
static __device__ void write_tile_runs(const job &j, const lane_pixels &p, int64_t first) {
    int64_t start = first + warp_sum_before(__popc(p.starts));
    int64_t end = first + warp_sum_before(__popc(p.ends));
    for (uint32_t rest = p.starts; rest; rest &= rest - 1) {
        const uint32_t before = (rest & -rest) - 1;
        j.runs[start].first = p.first + __popc(before);
        j.runs[start].value = p.value + __popc(p.candidates & before);
        j.parent[start] = (int)start;
        start++;
    }
    for (uint32_t rest = p.ends; rest; rest &= rest - 1)
        j.runs[end++].last = p.first + __ffs(rest) - 1;
}

/* A block takes TILES_A_BLOCK tiles apart, and writes their runs behind those of all blocks before
 * it. */
static __global__ void __launch_bounds__(THREADS) find_runs(const __grid_constant__ job j) {
    __shared__ block_shared shared;
    wait_for_earlier();
    const int64_t block = take_ticket(j.tile_blocks, &shared);
    const int64_t first = block * TILES_A_BLOCK + threadIdx.x / WARP * WARP_TILES;
    tile_words tiles[WARP_TILES] = {};
    lane_pixels pixels[WARP_TILES];
    int n[WARP_TILES], n_warp = 0;
    if (is_ready(j))
        load_tiles(j, first, tiles);
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        pixels[i] = take_apart(j, first + i, tiles[i]);
        n[i] = warp_sum(__popc(pixels[i].starts));
        n_warp += n[i];
    }
    int64_t before = sum_before(j.tile_blocks, block, lane_of_thread() == 0 ? n_warp : 0, &shared);
    before = __shfl_sync(ALL_LANES, before, 0);
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        if (first + i > j.n_tiles)
            break;
        if (lane_of_thread() == 0)
            j.tile_runs[first + i] = before;
        if (lane_of_thread() == 0 && first + i == j.n_tiles)
            j.state->n_runs = before;
        if (n[i] > 0 && before + n[i] <= j.runs_room)
            write_tile_runs(j, pixels[i], before);
        before += n[i];
    }
}

/* How many runs there are, if there is room for them; else none. */
static __device__ int64_t runs_with_room(const job &j) {
    const int64_t n = j.tile_runs[j.n_tiles];
    return n <= j.runs_room ? n : 0;
}

/* --- joining --- */

/* Other threads may shorten the path meanwhile; it leads to the root all the same. */
static __device__ int root_of(volatile int *parent, int i) {
    for (int next = parent[i]; next != i; next = parent[i])
        i = next;
    return i;
}

/* Makes the earlier root the parent of the later one, until both have the same (Komura 2015,
 * Comput. Phys. Commun. 194, 54; Playne and Hawick 2018, IEEE TPDS 29, 1217). */
static __device__ void join(int *parent, int a, int b) {
    for (;;) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        if (a == b)
            return;
        const int earlier = min(a, b), later = max(a, b);
        const int before = atomicMin(&parent[later], earlier);
        if (before == later)
            return;
        a = earlier; /* `later` had got a parent in between, which is to be joined too */
        b = before;
    }
}

/* The first run whose last pixel is not before `pixel`. */
static __device__ int64_t find_run(const job &j, int64_t pixel) {
    int64_t low = j.tile_runs[pixel / TILE], high = j.tile_runs[pixel / TILE + 1];
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (j.runs[middle].last < pixel)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A run as a part of an island. */
struct part {
    int x0, x1, y;
};

static __device__ part part_of(const job &j, const run &r) {
    const int y = (int)row_of(j, r.first);
    const int x0 = (int)(r.first - y * j.pitch);
    return {x0, x0 + (int)(r.last - r.first), y};
}

/* Joins a run with those it touches in the row above, and with the one before it where a tile's end
 * has cut a run in two. */
static __device__ void join_run(const job &j, int i, const run &r) {
    const int reach = j.detection.connectivity == 8 ? 1 : 0;
    const int64_t row = row_of(j, r.first) * j.pitch; /* its first pixel */
    if (i > 0 && r.first > row && j.runs[i - 1].last == r.first - 1)
        join(j.parent, i - 1, i);
    if (row == 0)
        return;
    const int64_t above = row - j.pitch;
    const int64_t first = max(r.first - j.pitch - reach, above);
    const int64_t last = min(r.last - j.pitch + reach, above + j.width - 1);
    for (int64_t k = find_run(j, first); k < i && j.runs[k].first <= last; k++)
        join(j.parent, (int)k, i);
}

/* Of run i, as if it were an island. */
static __device__ extent extent_of(const job &j, int i, const run &r) {
    const uint64_t *blank = j.state->totals.n_blank > 0 ? (const uint64_t *)j.blank : NULL;
    const part p = part_of(j, r);
    const float *value = j.values + r.value;
    uint32_t key = 0;
#pragma unroll 8
    for (int x = p.x0; x <= p.x1; x++)
        key = max(key, exact_key(value[x - p.x0]));
    extent e;
    e.n_pixels = (unsigned long long)(p.x1 - p.x0 + 1);
    e.peak = (unsigned long long)key << 32 | (uint32_t)~i;
    e.x_min = p.x0;
    e.x_max = p.x1;
    e.y_min = e.y_max = p.y;
    e.edge = edges_touch(p.x0, p.x1, p.y, j.width, j.height, j.pitch, blank);
    return e;
}

static __global__ void __launch_bounds__(THREADS) join_runs(const __grid_constant__ job j) {
    wait_for_earlier();
    const int n = (int)runs_with_room(j);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        const run r = j.runs[i];
        join_run(j, (int)i, r);
        j.extents[i] = extent_of(j, (int)i, r);
    }
}

/* --- what tells whether an island counts --- */

static __device__ void add_extent(extent *to, const extent &e) {
    atomicAdd(&to->n_pixels, e.n_pixels);
    atomicMax(&to->peak, e.peak);
    atomicMin(&to->x_min, e.x_min);
    atomicMax(&to->x_max, e.x_max);
    atomicMin(&to->y_min, e.y_min);
    atomicMax(&to->y_max, e.y_max);
    if (e.edge)
        atomicOr(&to->edge, 1);
}

static __device__ extent warp_extent(const extent &e) {
    return {warp_sum(e.n_pixels), warp_max(e.peak),  warp_min(e.x_min), warp_max(e.x_max),
            warp_min(e.y_min),    warp_max(e.y_max), warp_max(e.edge)};
}

/* Whether all lanes have runs of one island: then they add up first, so that large islands do not
 * make all threads of the device wait for one number. */
static __device__ bool is_one_island(int root) {
    const int first = __shfl_sync(ALL_LANES, root, 0);
    return __all_sync(ALL_LANES, root >= 0 && root == first);
}

/* Leads each run to its root, to whose extent it adds its own; that of the root is there. */
static __global__ void __launch_bounds__(THREADS) add_extents(const __grid_constant__ job j) {
    wait_for_earlier();
    const int64_t n = runs_with_room(j);
    for (int64_t warp = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane_of_thread(); warp < n;
         warp += (int64_t)gridDim.x * THREADS) {
        const int64_t i = warp + lane_of_thread();
        const int root = i < n ? root_of(j.parent, (int)i) : -1;
        extent e = {0, 0, INT_MAX, -1, INT_MAX, -1, 0};
        if (i < n && root != i) {
            e = j.extents[i];
            j.parent[i] = root;
        }
        if (is_one_island(root)) {
            e = warp_extent(e);
            if (lane_of_thread() == 0)
                add_extent(&j.extents[root], e);
        } else if (e.n_pixels > 0) {
            add_extent(&j.extents[root], e);
        }
    }
}

static __device__ float peak_of(const extent &e) {
    return exact_unkey((uint32_t)(e.peak >> 32));
}

/* Whether an island is one of the catalogue's. */
static __device__ bool counts(const job &j, int64_t root) {
    return peak_of(j.extents[root]) >= j.state->thresholds.detection &&
           j.extents[root].n_pixels >= (unsigned long long)j.detection.min_pixels;
}

/* All that is known of an island before its pixels are summed up. */
static __device__ void start_island(const job &j, int64_t root, island *start) {
    const extent &e = j.extents[root];
    start->n_pixels = (int64_t)e.n_pixels;
    start->x_min = e.x_min;
    start->x_max = e.x_max;
    start->y_min = e.y_min;
    start->y_max = e.y_max;
    start->peak = peak_of(e);
    start->edge = e.edge;
    start->unit = moments_unit(start, j.state->thresholds.island);
}

/* The host takes islands whole, with what lies between their members. By all threads. */
static __device__ void clear_islands(island *islands, int64_t n) {
    static_assert(sizeof *islands % sizeof(uint4) == 0, "an island is a number of 16 bytes");
    uint4 *const parts = reinterpret_cast<uint4 *>(islands);
    for (int64_t i = threadIdx.x; i < n * (int64_t)(sizeof *islands / sizeof *parts); i += THREADS)
        parts[i] = make_uint4(0, 0, 0, 0);
}

/* Numbers the roots of islands that count, in their order, which is that of the labels, and begins
 * their islands. A block has RUNS_A_BLOCK runs; those behind the last one leave. */
static __global__ void __launch_bounds__(THREADS) number_islands(const __grid_constant__ job j) {
    __shared__ block_shared shared;
    wait_for_earlier();
    const int64_t n = runs_with_room(j);
    const int64_t block = take_ticket(j.run_blocks, &shared);
    const int64_t first = block * RUNS_A_BLOCK + threadIdx.x * THREAD_RUNS;
    bool counting[THREAD_RUNS];
    int parents[THREAD_RUNS], n_counting = 0;
    if (block > 0 && block * RUNS_A_BLOCK >= n)
        return;
#pragma unroll
    for (int i = 0; i < THREAD_RUNS; i++)
        parents[i] = first + i < n ? j.parent[first + i] : -1;
#pragma unroll
    for (int i = 0; i < THREAD_RUNS; i++) {
        counting[i] = parents[i] == first + i && counts(j, first + i);
        n_counting += counting[i];
    }
    int64_t place = sum_before(j.run_blocks, block, n_counting, &shared);
    int64_t end = shared.before;
    for (const int64_t warp : shared.warps)
        end += warp;
    if ((block + 1) * RUNS_A_BLOCK >= n && threadIdx.x == 0)
        j.state->n_counting = end;
    if (end > j.counting_room)
        return;
    clear_islands(j.islands + shared.before, end - shared.before);
    __syncthreads();
    for (int i = 0; i < THREAD_RUNS && first + i < n; i++) {
        j.place[first + i] = counting[i] ? (int)place : -1;
        if (counting[i])
            start_island(j, first + i, &j.islands[place++]);
    }
}

/* --- moments --- */

/* How many runs there are to sum up: all, if there is room for the islands that count; else none.
 */
static __device__ int64_t runs_to_sum(const job &j) {
    return j.state->n_counting <= j.counting_room ? runs_with_room(j) : 0;
}

enum { MOMENTS = 11 };

/* The additions of lower halves are under way together, before any of them is waited for. */
static __device__ void add_moments(island *to, const island &m) {
    int128 *const sums[MOMENTS] = {&to->q, &to->qx, &to->qy, &to->qxx, &to->qyy, &to->qxy,
                                   &to->x, &to->y,  &to->xx, &to->yy,  &to->xy};
    const int128 values[MOMENTS] = {m.q, m.qx, m.qy, m.qxx, m.qyy, m.qxy,
                                    m.x, m.y,  m.xx, m.yy,  m.xy};
    unsigned long long low[MOMENTS];
#pragma unroll
    for (int i = 0; i < MOMENTS; i++)
        low[i] = atomicAdd((unsigned long long *)sums[i], (unsigned long long)values[i]);
#pragma unroll
    for (int i = 0; i < MOMENTS; i++) {
        const bool carry = low[i] + (unsigned long long)values[i] < low[i];
        const unsigned long long high = (unsigned long long)((uint128)values[i] >> 64) + carry;
        if (high)
            atomicAdd((unsigned long long *)sums[i] + 1, high);
    }
}

static __device__ void warp_moments(island *m) {
    int128 *const moments[] = {&m->q, &m->qx, &m->qy, &m->qxx, &m->qyy, &m->qxy,
                               &m->x, &m->y,  &m->xx, &m->yy,  &m->xy};
#pragma unroll
    for (int128 *moment : moments)
        *moment = (int128)warp_sum_128((uint128)*moment);
}

/* Adds a run's pixels up, in its island's units; and if it has the peak, says where. */
static __device__ island moments_of(const job &j, int64_t i, int root, island *to) {
    const run r = j.runs[i];
    const part p = part_of(j, r);
    const float *value = j.values + r.value;
    const double per_unit = ldexp(1.0, -to->unit);
    island m = {};
    moments_add_row(&m, value, (int64_t)p.x1 - p.x0 + 1, (int64_t)p.x0 - to->x_min,
                    (int64_t)p.y - to->y_min, per_unit);
    if ((uint32_t)j.extents[root].peak == (uint32_t)~i) {
        int x = p.x0;
        while (value[x - p.x0] != to->peak)
            x++;
        to->x_peak = x;
        to->y_peak = p.y;
        to->peak = value[x - p.x0]; /* the sign of a zero is that of the pixel */
    }
    return m;
}

static __global__ void __launch_bounds__(THREADS) sum_moments(const __grid_constant__ job j) {
    wait_for_earlier();
    const int64_t n = runs_to_sum(j);
    for (int64_t warp = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane_of_thread(); warp < n;
         warp += (int64_t)gridDim.x * THREADS) {
        const int64_t i = warp + lane_of_thread();
        const int root = i < n ? j.parent[i] : -1;
        const bool counted = i < n && j.place[root] >= 0;
        island *to = counted ? &j.islands[j.place[root]] : NULL;
        island m = {};
        if (counted)
            m = moments_of(j, i, root, to);
        if (is_one_island(counted ? root : -1)) {
            warp_moments(&m);
            if (lane_of_thread() == 0)
                add_moments(to, m);
        } else if (counted) {
            add_moments(to, m);
        }
    }
}

/* --- putting it to work --- */

typedef void job_kernel(const job j);

/* A kernel that takes a run a thread. */
static cudaError_t launch_for_runs(job_kernel *kernel, const job *job, cudaStream_t stream) {
    unsigned blocks;
    const int64_t work = (job->runs_room + THREADS - 1) / THREADS;
    const cudaError_t status = blocks_for(kernel, THREADS, work, &blocks);
    return status ? status : launch_next(kernel, blocks, THREADS, stream, *job);
}

/* find_runs and number_islands have a block for each of their words but the first. */
cudaError_t launch_islands(const struct job *job, cudaStream_t stream) {
    cudaError_t status =
        launch_next(find_runs, (unsigned)(job->tile_words - 1), THREADS, stream, *job);
    if (!status)
        status = launch_for_runs(join_runs, job, stream);
    if (!status)
        status = launch_for_runs(add_extents, job, stream);
    if (!status)
        status = launch_next(number_islands, (unsigned)(job->run_words - 1), THREADS, stream, *job);
    return status ? status : launch_for_runs(sum_moments, job, stream);
}
