/* From the candidates of a scan to the moments of islands. Kernels, in their order:
 *
 * 1. find_runs: pixels above the threshold become runs, which are cut at the ends of tiles of 1024
 *    pixels. A block counts and writes in one pass, by decoupled look-back (Merrill and Garland
 *    2016).
 * 2. join_runs: runs that touch are joined by union-find with atomicMin; the earlier root wins
 *    (Komura 2015).
 * 3. find_roots, add_extents: each run gets its root as parent; size, box and peak are added to the
 *    root by integer atomics. With local noise, add_local_extents and find_peak_runs do so for
 *    value - background.
 * 4. number_islands: islands of the catalogue are numbered in the order of their roots, and their
 *    units chosen.
 * 5. sum_moments: the moments of each run, 128-bit integers, are added to its island.
 * 6. list_runs, if the host wants runs: runs of islands of the catalogue, in their order.
 *
 * Always: an island's root is its first run, so the order of the roots is that of the labels.
 * Everything that several threads add to is an integer, so the result has the bits of the CPU's.
 * Buffers that are too small are counted beyond their end, and nothing is written there: the host
 * enlarges them and starts again.
 *
 * Cost: the values of candidates are read three times, the image not at all. A run takes 24 bytes,
 * its parent, extent and index 40; with local noise 24 more. */
#include "backend/edges.h"
#include "backend/moments.h"
#include "device.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    WORD = 32, /* pixels in a word of a bitmap */
    BLOCK_WORDS = TILES_A_BLOCK * TILE / WORD,
    WARP_TILES = TILES_A_BLOCK / WARPS,
    THREAD_RUNS = RUNS_A_BLOCK / THREADS,
};

/* Blocks of find_runs per multiprocessor. The kernel mostly waits for memory, so that it profits
 * from as many as the multiprocessor has threads for. */
#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100
enum { FIND_BLOCKS = 7 };
#else
enum { FIND_BLOCKS = 1 };
#endif

static_assert((int)TILES_A_BLOCK % WARPS == 0 && (int)RUNS_A_BLOCK % THREADS == 0,
              "each warp and thread has the same number");
static_assert(TILE == WARP * WORD, "one word per lane");

/* Whether islands are wanted, and all candidates were stored. */
static __device__ bool is_ready(const params &params) {
    const state &s = *params.state;
    return s.thresholds.detection < INFINITY && s.plan.candidate <= s.thresholds.island &&
           s.totals.n_candidates <= (unsigned long long)params.values_capacity;
}

/* --- prefix sums over blocks --- */

/* A block publishes one word: first its sum alone, then the sum up to its end. A block that needs
 * the sum before it looks back over few words, and find_runs counts and writes in one pass
 * (decoupled look-back: Merrill and Garland 2016, NVIDIA technical report 2016-002). words[0]
 * counts the blocks that have begun, and gives each its number: all blocks with lower numbers have
 * begun. */
enum word_kind { NOTHING, BLOCK_SUM, COMPLETE };
enum { KIND_BITS = 2 };

struct block_shared {
    int64_t warps[WARPS];
    int64_t block, before, end; /* the block's number; the sums before it and up to its end */
};

/* Returns the number of the block, in the order in which blocks begin. */
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

/* The sum over all blocks before `block`; by a warp. */
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

/* The sum of n over all threads before this one, in this block and in the blocks before it. By all
 * threads of the block. */
static __device__ int64_t sum_before(unsigned long long *words, int64_t block, int n,
                                     block_shared *shared) {
    const int warp = threadIdx.x / WARP;
    const int before = warp_sum_before(n);
    if (lane_of_thread() == WARP - 1)
        shared->warps[warp] = before + n;
    __syncthreads();
    if (warp == 0) {
        const int64_t of_block =
            warp_sum(lane_of_thread() < WARPS ? shared->warps[lane_of_thread()] : 0);
        if (lane_of_thread() == 0)
            publish(words, block, BLOCK_SUM, of_block);
        const int64_t of_blocks = look_back(words, block);
        if (lane_of_thread() == 0) {
            shared->before = of_blocks;
            shared->end = of_blocks + of_block;
            publish(words, block, COMPLETE, shared->end);
        }
    }
    __syncthreads();
    int64_t sum = shared->before + before;
    for (int i = 0; i < warp; i++)
        sum += shared->warps[i];
    return sum;
}

/* --- runs --- */

/* A word of the candidates' bitmap that is not 0; most words are 0. */
struct word {
    uint32_t candidates, above; /* bits of the candidates, and of those above the threshold */
    uint16_t index;             /* of the word, in the block's tiles */
    uint16_t value; /* index of its first candidate's value, from the tile's first value */
};

struct words_shared {
    word words[BLOCK_WORDS];
    uint16_t runs_before[BLOCK_WORDS + 1]; /* in the block, before each word; then all */
    int64_t tile_value[TILES_A_BLOCK];
    int tile_first[TILES_A_BLOCK]; /* index in `words`, of its first word or a later tile's */
    int warps[WARPS];
    block_shared sums;
};
static_assert((int)TILES_A_BLOCK * TILE <= UINT16_MAX + 1, "16 bits count the pixels before one");

/* Collects the words of a block's tiles, in their order; returns how many there are. The loads for
 * all tiles of a warp are issued together. */
static __device__ int collect_words(const params &params, int64_t first, words_shared *s) {
    static_assert((int)WARP_TILES <= WARP, "one tile per lane");
    const int lane = lane_of_thread(), warp_first = (int)threadIdx.x / WARP * WARP_TILES;
    const bool ready = is_ready(params);
    uint32_t candidates[WARP_TILES];
    unsigned filled[WARP_TILES], filled_tiles = 0;
    int n = 0;
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        const int64_t tile = first + warp_first + i;
        candidates[i] = ready && tile < params.n_tiles ? params.candidates[tile * WARP + lane] : 0;
    }
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        filled[i] = __ballot_sync(ALL_LANES, candidates[i] != 0);
        filled_tiles |= (filled[i] != 0) << i;
        n += __popc(filled[i]);
    }
    if (filled_tiles >> lane & 1)
        s->tile_value[warp_first + lane] = params.tile_value[first + warp_first + lane];
    if (lane == 0)
        s->warps[threadIdx.x / WARP] = n;
    __syncthreads();
    const int of_warps = lane < WARPS ? s->warps[lane] : 0;
    int index = warp_sum(lane < (int)threadIdx.x / WARP ? of_warps : 0);
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        const int tile = warp_first + i;
        if (lane == 0)
            s->tile_first[tile] = index;
        if (filled[i] == 0)
            continue;
        const int before = warp_sum_before(__popc(candidates[i]));
        if (candidates[i])
            s->words[index + __popc(filled[i] & lanes_before())] = {
                candidates[i], 0, (uint16_t)(tile * WARP + lane), (uint16_t)before};
        index += __popc(filled[i]);
    }
    __syncthreads();
    return warp_sum(of_warps);
}

/* The index in params.values of a word's first value. */
static __device__ int64_t first_value(const words_shared &s, const word &w) {
    return s.tile_value[w.index / WARP] + w.value;
}

/* The candidates of a word that are above the threshold. */
static __device__ uint32_t find_above(const params &params, const words_shared &s, const word &w) {
    enum { AT_ONCE = 8 };
    const float threshold = params.state->thresholds.island;
    const float *values = params.values + first_value(s, w);
    uint32_t above = 0;
    for (uint32_t remaining = w.candidates; remaining; values += AT_ONCE) {
        float v[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            v[i] = i < __popc(remaining) ? values[i] : -INFINITY;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++, remaining &= remaining - 1)
            above |= v[i] >= threshold ? remaining & -remaining : 0;
    }
    return above;
}

/* The runs of a word. A run that continues in the next word of the same tile is not cut. */
struct word_runs {
    uint32_t starts, ends; /* bits of the runs' first and last pixels */
    bool open;             /* the first run began in the word before */
};

/* A bit for each of the 33 pixels from `first` on that begins a row; bit 32 is the next word's
 * first pixel. */
static __device__ uint64_t row_starts(const params &params, int64_t first) {
    uint64_t starts = 0;
    for (int64_t i = row_of(params, first + params.pitch - 1) * params.pitch - first; i <= WORD;
         i += params.pitch)
        starts |= (uint64_t)1 << i;
    return starts;
}

static __device__ int64_t first_pixel(int64_t tile, const word &w) {
    return tile * TILE + (int64_t)w.index * WORD;
}

/* The runs of the i-th of n words; the block's first tile is `tile`. */
static __device__ word_runs find_word_runs(const params &params, int64_t tile, const word *words,
                                           int n, int i) {
    const word &w = words[i];
    const uint64_t rows = row_starts(params, first_pixel(tile, w));
    const bool goes_back = i > 0 && w.index % WARP > 0 && words[i - 1].index == w.index - 1;
    const bool goes_on = i + 1 < n && w.index % WARP < WARP - 1 &&
                         words[i + 1].index == w.index + 1 && !(rows >> WORD);
    const uint32_t last_before = goes_back ? words[i - 1].above >> (WORD - 1) : 0;
    const uint32_t first_after = goes_on ? words[i + 1].above & 1 : 0;
    const uint32_t row = (uint32_t)rows;
    word_runs r;
    r.starts = w.above & (~(w.above << 1 | last_before) | row);
    r.ends = w.above & ~((w.above & ~row) >> 1 | first_after << (WORD - 1));
    r.open = w.above & ~r.starts & 1;
    return r;
}

/* Writes a word's runs: the first that begins in the word has the index `start`, and the word's
 * first value the index `value`. */
static __device__ void write_word_runs(const params &params, const word &w, const word_runs &r,
                                       int64_t pixel, int64_t value, int64_t start) {
    int64_t end = r.open ? start - 1 : start;
    for (uint32_t remaining = r.starts; remaining; remaining &= remaining - 1) {
        const uint32_t before = (remaining & -remaining) - 1;
        params.runs[start].first = pixel + __popc(before);
        params.runs[start].value = value + __popc(w.candidates & before);
        params.parent[start] = (int)start;
        start++;
    }
    for (uint32_t remaining = r.ends; remaining; remaining &= remaining - 1)
        params.runs[end++].last = pixel + __ffs(remaining) - 1;
}

/* Writes the number of runs before each of a block's tiles. The tile params.n_tiles does not exist:
 * it gets the number of all runs. */
static __device__ void write_tile_runs(const params &params, int64_t first, const words_shared &s) {
    const int64_t tile = first + threadIdx.x;
    if (threadIdx.x >= TILES_A_BLOCK || tile > params.n_tiles)
        return;
    const int64_t before = s.sums.before + s.runs_before[s.tile_first[threadIdx.x]];
    params.tile_runs[tile] = before;
    if (tile == params.n_tiles)
        params.state->n_runs = before;
}

/* Counts the runs that begin in a thread's words [first, end), of n, and sets how many of them
 * begin before each word. */
static __device__ int count_word_runs(const params &params, int64_t tile, int n, int first, int end,
                                      words_shared *s) {
    int n_runs = 0;
    for (int i = first; i < end; i++) {
        s->runs_before[i] = (uint16_t)n_runs;
        n_runs += __popc(find_word_runs(params, tile, s->words, n, i).starts);
    }
    return n_runs;
}

/* A block finds the runs of TILES_A_BLOCK tiles, and writes them behind those of all blocks before
 * it. Each thread has some consecutive words. It finds their runs twice, which is faster than to
 * store them in between. */
static __global__ void __launch_bounds__(THREADS, FIND_BLOCKS)
    find_runs(const __grid_constant__ params params) {
    __shared__ words_shared s;
    wait_for_earlier();
    const int64_t block = take_ticket(params.tile_blocks, &s.sums), tile = block * TILES_A_BLOCK;
    const int n = collect_words(params, tile, &s), each = (n + THREADS - 1) / THREADS;
    const int first = min((int)threadIdx.x * each, n), end = min(first + each, n);
    for (int i = first; i < end; i++)
        s.words[i].above = find_above(params, s, s.words[i]);
    __syncthreads();
    const int n_runs = count_word_runs(params, tile, n, first, end, &s);
    int64_t start = sum_before(params.tile_blocks, block, n_runs, &s.sums);
    const int before = (int)(start - s.sums.before);
    for (int i = first; i < end; i++)
        s.runs_before[i] += (uint16_t)before;
    if (threadIdx.x == THREADS - 1)
        s.runs_before[n] = (uint16_t)(before + n_runs);
    __syncthreads();
    write_tile_runs(params, tile, s);
    if (s.sums.end > params.runs_capacity)
        return;
    for (int i = first; i < end; i++) {
        const word &w = s.words[i];
        const word_runs runs = find_word_runs(params, tile, s.words, n, i);
        write_word_runs(params, w, runs, first_pixel(tile, w), first_value(s, w), start);
        start += __popc(runs.starts);
    }
}

/* The number of runs; 0 if their buffer overflowed. */
static __device__ int64_t runs_that_fit(const params &params) {
    const int64_t n = params.tile_runs[params.n_tiles];
    return n <= params.runs_capacity ? n : 0;
}

/* --- joining --- */

/* The root of a run. Other threads may shorten the path meanwhile; it still leads to the root. */
static __device__ int root_of(volatile int *parent, int i) {
    for (int next = parent[i]; next != i; next = parent[i])
        i = next;
    return i;
}

/* Joins the trees of two runs. The earlier run becomes the parent of the later one, which usually
 * has none yet; if it has one, the roots above both are joined in the same way, until they agree
 * (Komura 2015, Comput. Phys. Commun. 194, 54; Playne and Hawick 2018, IEEE TPDS 29, 1217). */
static __device__ void islands_join(int *parent, int a, int b) {
    for (;;) {
        const int earlier = min(a, b), later = max(a, b);
        const int before = atomicMin(&parent[later], earlier);
        if (before == later || before == earlier)
            return;
        a = root_of(parent, earlier); /* `later` had a parent, which must be joined too */
        b = root_of(parent, before);
        if (a == b)
            return;
    }
}

/* The index of the first run whose last pixel is not before `pixel`. */
static __device__ int64_t find_run(const params &params, int64_t pixel) {
    int64_t low = params.tile_runs[pixel / TILE], high = params.tile_runs[pixel / TILE + 1];
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (params.runs[middle].last < pixel)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The pixels of a run: [x0, x1] of row y. */
struct row_range {
    int x0, x1, y;
};

static __device__ row_range row_range_of(const params &params, const device_run &r) {
    const int y = (int)row_of(params, r.first);
    const int x0 = (int)(r.first - y * params.pitch);
    return {x0, x0 + (int)(r.last - r.first), y};
}

/* Joins a run with the runs that it touches in the row above, and with the run before it if a
 * tile's end has cut one run in two. */
static __device__ void join_run(const params &params, int i, const device_run &r) {
    const int reach = params.detection.connectivity == 8 ? 1 : 0;
    const int64_t row = row_of(params, r.first) * params.pitch; /* first pixel of the row */
    if (i > 0 && r.first > row && params.runs[i - 1].last == r.first - 1)
        islands_join(params.parent, i - 1, i);
    if (row == 0)
        return;
    const int64_t above = row - params.pitch;
    const int64_t first = max(r.first - params.pitch - reach, above);
    const int64_t last = min(r.last - params.pitch + reach, above + params.width - 1);
    for (int64_t k = find_run(params, first); k < i && params.runs[k].first <= last; k++)
        islands_join(params.parent, (int)k, i);
}

static __global__ void __launch_bounds__(THREADS) join_runs(const __grid_constant__ params params) {
    wait_for_earlier();
    const int n = (int)runs_that_fit(params);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS)
        join_run(params, (int)i, params.runs[i]);
}

/* --- extents of islands --- */

/* The extent of run i. */
static __device__ extent extent_of(const params &params, int i, const device_run &r) {
    const uint64_t *blank =
        params.state->totals.n_blank > 0 ? (const uint64_t *)params.blank : NULL;
    const row_range p = row_range_of(params, r);
    const float *value = params.values + r.value;
    uint32_t key = 0;
#pragma unroll 8
    for (int x = p.x0; x <= p.x1; x++)
        key = max(key, exact_key(value[x - p.x0]));
    extent e;
    e.n_pixels = (unsigned long long)(p.x1 - p.x0 + 1);
    e.peak = (unsigned long long)key << 32 | (uint32_t)~i;
    e.reach[LEFT_END] = -p.x0;
    e.reach[RIGHT_END] = p.x1;
    e.reach[UPPER_END] = p.y;
    e.reach[ON_EDGE] =
        edges_touch(p.x0, p.x1, p.y, params.width, params.height, params.pitch, blank);
    return e;
}

/* Maps a double to an integer in the same order; -0 and 0 are equal. */
static __device__ unsigned long long double_key(double x) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong(x + 0.0);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static __device__ double double_of_key(unsigned long long key) {
    return __longlong_as_double((long long)(key >> 63 ? key & ~(1ull << 63) : ~key));
}

/* The local extent of a run; peak_run is set later. */
static __device__ local_extent local_extent_of(const params &params, const device_run &r) {
    const row_range p = row_range_of(params, r);
    const float *value = params.values + r.value;
    local_extent e = {0, 0, INT_MAX, 0};
    for (int x = p.x0; x <= p.x1; x++) {
        const noise_at noise = noise_map_at(&params.noise, x, p.y);
        const float v = value[x - p.x0];
        const double above = (double)v - noise.background;
        e.above = max(e.above, double_key(above));
        e.snr = max(e.snr, double_key(above / noise.rms));
        e.passes |= noise_is_exceeded(noise, params.detection.threshold, v);
    }
    return e;
}

static __device__ bool is_local(const params &params) {
    return params.noise.nodes != NULL;
}

/* Makes the root the parent of each run. The extent of a root begins as the extent of its first
 * run. */
static __global__ void __launch_bounds__(THREADS)
    find_roots(const __grid_constant__ params params) {
    wait_for_earlier();
    const int64_t n = runs_that_fit(params);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        const int root = root_of(params.parent, (int)i);
        if (root == i && is_local(params))
            params.local[i] = local_extent_of(params, params.runs[i]);
        if (root == i)
            params.extents[i] = extent_of(params, (int)i, params.runs[i]);
        else
            params.parent[i] = root;
    }
}

static __device__ extent warp_extent(const extent &e) {
    extent all = {warp_sum(e.n_pixels), warp_max(e.peak), {}};
    for (int i = 0; i < REACHES; i++)
        all.reach[i] = warp_max(e.reach[i]);
    return all;
}

/* The extents that the runs of a warp add to their roots, in shared memory. */
struct warp_extents {
    int root[WARP]; /* -1: nothing to add */
    int reach[WARP * REACHES];
};

/* Adds the extent of a lane's run to the extent of its root, if the run has pixels. Neighbouring
 * lanes add to neighbouring addresses, so that the memory has fewer transactions. By a warp. */
static __device__ void add_extent(const params &params, int root, const extent &e,
                                  warp_extents *s) {
    const int lane = lane_of_thread();
    s->root[lane] = e.n_pixels > 0 ? root : -1;
    for (int i = 0; i < REACHES; i++)
        s->reach[lane * REACHES + i] = e.reach[i];
    if (e.n_pixels > 0) {
        atomicAdd(&params.extents[root].n_pixels, e.n_pixels);
        atomicMax(&params.extents[root].peak, e.peak);
    }
    __syncwarp();
#pragma unroll
    for (int k = lane; k < WARP * REACHES; k += WARP) {
        const int to = s->root[k / REACHES];
        if (to >= 0)
            atomicMax(&params.extents[to].reach[k % REACHES], s->reach[k]);
    }
    __syncwarp();
}

/* Whether all lanes have runs of one island. Then the warp adds them up first, so that the threads
 * of the device do not all wait for the sums of one large island. */
static __device__ bool is_one_island(int root) {
    const int first = __shfl_sync(ALL_LANES, root, 0);
    return __all_sync(ALL_LANES, root >= 0 && root == first);
}

/* Adds the extent of each run to that of its root, which find_roots has set. */
static __global__ void __launch_bounds__(THREADS)
    add_extents(const __grid_constant__ params params) {
    __shared__ warp_extents of_warp[WARPS];
    warp_extents *const s = &of_warp[threadIdx.x / WARP];
    wait_for_earlier();
    const int64_t n = runs_that_fit(params);
    for (int64_t warp = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane_of_thread(); warp < n;
         warp += (int64_t)gridDim.x * THREADS) {
        const int64_t i = warp + lane_of_thread();
        const int root = i < n ? params.parent[i] : -1;
        extent e = {0, 0, {INT_MIN, INT_MIN, INT_MIN, 0}};
        if (i < n && root != i)
            e = extent_of(params, (int)i, params.runs[i]);
        if (is_one_island(root)) {
            e = warp_extent(e);
            if (lane_of_thread() > 0)
                e.n_pixels = 0;
        }
        add_extent(params, root, e, s);
    }
}

/* Adds the local extent of each run to that of its root. */
static __global__ void __launch_bounds__(THREADS)
    add_local_extents(const __grid_constant__ params params) {
    wait_for_earlier();
    const int64_t n = runs_that_fit(params);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        const int root = params.parent[i];
        if (root == i)
            continue;
        const local_extent e = local_extent_of(params, params.runs[i]);
        atomicMax(&params.local[root].above, e.above);
        atomicMax(&params.local[root].snr, e.snr);
        if (e.passes)
            params.local[root].passes = 1;
    }
}

/* Finds the first run that has the highest pixel, for each root; it may be later than the root. */
static __global__ void __launch_bounds__(THREADS)
    find_peak_runs(const __grid_constant__ params params) {
    wait_for_earlier();
    const int64_t n = runs_that_fit(params);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        local_extent *const of_root = &params.local[params.parent[i]];
        if (local_extent_of(params, params.runs[i]).above == of_root->above)
            atomicMin(&of_root->peak_run, (int)i);
    }
}

static __device__ float peak_of(const extent &e) {
    return exact_unkey((uint32_t)(e.peak >> 32));
}

/* Whether an island enters the catalogue: it is large and high enough. */
static __device__ bool counts(const params &params, int64_t root) {
    const bool passes = is_local(params)
                            ? params.local[root].passes != 0
                            : peak_of(params.extents[root]) >= params.state->thresholds.detection;
    return passes &&
           params.extents[root].n_pixels >= (unsigned long long)params.detection.min_pixels;
}

/* Sets size, box, peak and unit of an island, before its pixels are summed. */
static __device__ void start_island(const params &params, int64_t root, island *start) {
    const extent e = params.extents[root]; /* one load, before anything is written */
    const int64_t first = params.runs[root].first;
    const float threshold = params.state->thresholds.island;
    start->n_pixels = (int64_t)e.n_pixels;
    start->x_min = -e.reach[LEFT_END];
    start->x_max = e.reach[RIGHT_END];
    start->y_min = (int)row_of(params, first);
    start->y_max = e.reach[UPPER_END];
    start->peak = peak_of(e);
    start->edge = e.reach[ON_EDGE];
    start->snr = is_local(params) ? double_of_key(params.local[root].snr) : 0;
    start->unit = is_local(params)
                      ? moments_local_unit(start, double_of_key(params.local[root].above))
                      : moments_unit(start, threshold);
    start->small =
        is_local(params) ? moments_are_small_locally(start) : moments_are_small(start, threshold);
}

/* Clears islands with their padding bytes: the host copies these, too. By all threads of the block.
 */
static __device__ void clear_islands(island *islands, int64_t n) {
    static_assert(sizeof *islands % sizeof(uint4) == 0, "an island is a multiple of 16 bytes");
    uint4 *const quads = reinterpret_cast<uint4 *>(islands);
    for (int64_t i = threadIdx.x; i < n * (int64_t)(sizeof *islands / sizeof *quads); i += THREADS)
        quads[i] = make_uint4(0, 0, 0, 0);
}

/* Numbers the islands of the catalogue in the order of their roots, which is the order of the
 * labels, and starts each. A block has RUNS_A_BLOCK runs; a block without runs returns, except the
 * first. */
static __global__ void __launch_bounds__(THREADS)
    number_islands(const __grid_constant__ params params) {
    __shared__ block_shared shared;
    __shared__ int roots[RUNS_A_BLOCK]; /* of the block's islands in the catalogue */
    wait_for_earlier();
    const int64_t n = runs_that_fit(params);
    const int64_t block = take_ticket(params.run_blocks, &shared);
    const int64_t first = block * RUNS_A_BLOCK + threadIdx.x * THREAD_RUNS;
    bool counting[THREAD_RUNS];
    int parents[THREAD_RUNS], n_counting = 0;
    if (block > 0 && block * RUNS_A_BLOCK >= n)
        return;
#pragma unroll
    for (int i = 0; i < THREAD_RUNS; i++)
        parents[i] = first + i < n ? params.parent[first + i] : -1;
#pragma unroll
    for (int i = 0; i < THREAD_RUNS; i++) {
        counting[i] = parents[i] == first + i && counts(params, first + i);
        n_counting += counting[i];
    }
    int64_t index = sum_before(params.run_blocks, block, n_counting, &shared);
    const int64_t end = shared.end;
    if ((block + 1) * RUNS_A_BLOCK >= n && threadIdx.x == 0)
        params.state->n_counting = end;
    if (end > params.counting_capacity)
        return;
    for (int i = 0; i < THREAD_RUNS && first + i < n; i++) {
        params.island_index[first + i] = counting[i] ? (int)index : -1;
        if (counting[i])
            roots[index++ - shared.before] = (int)(first + i);
    }
    clear_islands(params.islands + shared.before, end - shared.before);
    __syncthreads();
    for (int64_t i = shared.before + threadIdx.x; i < end; i += THREADS)
        start_island(params, roots[i - shared.before], &params.islands[i]);
}

/* --- moments --- */

/* The number of runs to sum; 0 if the buffer of islands overflowed. */
static __device__ int64_t runs_to_sum(const params &params) {
    return params.state->n_counting <= params.counting_capacity ? runs_that_fit(params) : 0;
}

/* The address of the lower half of one of an island's sums. */
static __device__ unsigned long long *lower_half(island *i, int moment) {
    return (unsigned long long *)&i->low[moment];
}

/* The moments that the runs of a warp add to islands with small sums, in shared memory. */
struct small_moments {
    int island[WARP]; /* its index; -1: the run has no moments here */
    unsigned long long values[WARP * MOMENTS];
};

static __device__ void put_small_moments(const island &m, small_moments *s) {
#pragma unroll
    for (int i = 0; i < MOMENTS; i++)
        s->values[lane_of_thread() * MOMENTS + i] = m.low[i];
}

/* Adds to the lower halves; the upper halves stay 0, so no thread needs the old values.
 * Neighbouring lanes add to neighbouring addresses, in one transaction. Many sums of an island's
 * first row and column are 0 and skipped. */
static __device__ void add_small_moments(const params &params, const small_moments &s) {
#pragma unroll
    for (int k = lane_of_thread(); k < WARP * MOMENTS; k += WARP) {
        const int index = s.island[k / MOMENTS];
        if (index >= 0 && s.values[k])
            atomicAdd(lower_half(&params.islands[index], k % MOMENTS), s.values[k]);
    }
}

/* Adds moments to an island. The additions to all lower halves are issued before the first old
 * value is used. */
static __device__ void add_moments(island *to, const island &m) {
    unsigned long long low[MOMENTS];
#pragma unroll
    for (int i = 0; i < MOMENTS; i++)
        low[i] = atomicAdd(lower_half(to, i), (unsigned long long)m.low[i]);
#pragma unroll
    for (int i = 0; i < MOMENTS; i++) {
        const unsigned long long high = m.high[i] + (low[i] + m.low[i] < low[i] ? 1 : 0);
        if (high)
            atomicAdd((unsigned long long *)&to->high[i], high);
    }
}

static __device__ void warp_moments(island *m) {
#pragma unroll
    for (int i = 0; i < MOMENTS; i++) {
        const uint128 sum = warp_sum_128((uint128)island_sum(m, (moment)i));
        m->low[i] = (uint64_t)sum;
        m->high[i] = (uint64_t)(sum >> 64);
    }
}

/* Sets the peak of an island, which is in this run. */
static __device__ void set_peak(const row_range &p, int x, float value, island *to) {
    to->x_peak = x;
    to->y_peak = p.y;
    to->peak = value; /* with the sign of a zero */
}

/* Adds a run's values above the local background to moments. */
static __device__ void add_local_run(const params &params, int64_t i, int root, const row_range &p,
                                     const float *value, double per_unit, island *to, island *m) {
    const local_extent &e = params.local[root];
    bool is_peak_run = e.peak_run == i;
    for (int x = p.x0; x <= p.x1; x++) {
        const float v = value[x - p.x0];
        const double above = (double)v - noise_map_at(&params.noise, x, p.y).background;
        moments_add_local_row(m, &above, 1, (int64_t)x - to->x_min, (int64_t)p.y - to->y_min,
                              per_unit);
        if (is_peak_run && double_key(above) == e.above) {
            set_peak(p, x, v, to);
            is_peak_run = false; /* later pixels may be as high */
        }
    }
}

/* Returns the moments of a run, in its island's units; sets the island's peak if it is in this
 * run. */
static __device__ island sum_run(const params &params, int64_t i, int root, island *to) {
    const device_run r = params.runs[i];
    const row_range p = row_range_of(params, r);
    const float *value = params.values + r.value;
    const double per_unit = ldexp(1.0, -to->unit);
    island m = {};
    if (is_local(params)) {
        add_local_run(params, i, root, p, value, per_unit, to, &m);
        return m;
    }
    moments_add_row(&m, value, (int64_t)p.x1 - p.x0 + 1, (int64_t)p.x0 - to->x_min,
                    (int64_t)p.y - to->y_min, per_unit);
    if ((uint32_t)params.extents[root].peak == (uint32_t)~i) {
        int x = p.x0;
        while (value[x - p.x0] != to->peak)
            x++;
        set_peak(p, x, value[x - p.x0], to);
    }
    return m;
}

/* Each branch calls sum_run itself, so that the compiler computes only the lower halves for small
 * sums. The kernel mostly waits for memory: four blocks per multiprocessor are faster, although
 * some registers then spill. */
static __global__ void __launch_bounds__(THREADS, 4)
    sum_moments(const __grid_constant__ params params) {
    __shared__ small_moments of_warp[WARPS];
    small_moments *const s = &of_warp[threadIdx.x / WARP];
    wait_for_earlier();
    const int64_t n = runs_to_sum(params);
    for (int64_t warp = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane_of_thread(); warp < n;
         warp += (int64_t)gridDim.x * THREADS) {
        const int64_t i = warp + lane_of_thread();
        const int root = i < n ? params.parent[i] : -1;
        const int index = i < n ? params.island_index[root] : -1;
        const bool counted = index >= 0;
        island *const to = counted ? &params.islands[index] : NULL;
        if (is_one_island(counted ? root : -1)) {
            island m = sum_run(params, i, root, to);
            warp_moments(&m);
            if (lane_of_thread() == 0)
                add_moments(to, m);
            continue;
        }
        s->island[lane_of_thread()] = counted && to->small ? index : -1;
        if (counted && to->small) {
            island m = sum_run(params, i, root, to);
            put_small_moments(m, s);
        } else if (counted) {
            island m = sum_run(params, i, root, to);
            add_moments(to, m);
        }
        __syncwarp();
        add_small_moments(params, *s);
        __syncwarp();
    }
}

/* --- runs --- */

/* Lists the runs of the islands of the catalogue. A block has RUNS_A_BLOCK runs, a thread some
 * neighbouring ones; a block without runs returns, except the first. */
static __global__ void __launch_bounds__(THREADS) list_runs(const __grid_constant__ params params) {
    __shared__ block_shared shared;
    wait_for_earlier();
    const int64_t n = runs_to_sum(params);
    const int64_t block = take_ticket(params.run_blocks, &shared);
    const int64_t first = block * RUNS_A_BLOCK + threadIdx.x * THREAD_RUNS;
    int island[THREAD_RUNS], n_listed = 0;
    if (block > 0 && block * RUNS_A_BLOCK >= n)
        return;
#pragma unroll
    for (int i = 0; i < THREAD_RUNS; i++) {
        island[i] = first + i < n ? params.island_index[params.parent[first + i]] : -1;
        n_listed += island[i] >= 0;
    }
    int64_t at = sum_before(params.run_blocks, block, n_listed, &shared);
    if ((block + 1) * RUNS_A_BLOCK >= n && threadIdx.x == 0)
        params.state->n_listed_runs = shared.end;
    for (int i = 0; i < THREAD_RUNS; i++) {
        if (island[i] < 0)
            continue;
        const row_range p = row_range_of(params, params.runs[first + i]);
        params.listed_runs[at++] = {{p.y, p.x0, p.x1}, island[i]};
    }
}

/* --- launchers --- */

/* find_runs and number_islands need one block for each word behind words[0]. */
cudaError_t launch_islands(const struct params *params, cudaStream_t stream) {
    typedef void params_kernel(const struct params params);
    params_kernel *const of_runs[] = {join_runs, find_roots, add_extents, add_local_extents,
                                      find_peak_runs};
    const int n = params->noise.nodes ? 5 : 3; /* the last two are for local noise */
    const int64_t work = (params->runs_capacity + THREADS - 1) / THREADS; /* a run a thread */
    cudaError_t status =
        launch_next(find_runs, (unsigned)(params->tile_words - 1), THREADS, stream, *params);
    for (int i = 0; !status && i < n; i++)
        status = launch_filling(of_runs[i], THREADS, work, stream, *params);
    if (!status)
        status = launch_next(number_islands, (unsigned)(params->run_words - 1), THREADS, stream,
                             *params);
    return status ? status : launch_filling(sum_moments, THREADS, work, stream, *params);
}

cudaError_t launch_list_runs(const struct params *params, cudaStream_t stream) {
    const cudaError_t status = cudaMemsetAsync(
        params->run_blocks, 0, (size_t)params->run_words * sizeof *params->run_blocks, stream);
    return status ? status
                  : launch_next(list_runs, (unsigned)(params->run_words - 1), THREADS, stream,
                                *params);
}
