/* From candidates to the moments of islands: pixels above the threshold become runs, which are cut
 * at the ends of tiles; runs that touch are joined by union-find, where the earlier root wins, so
 * that an island's root is its first run and the roots' order is that of the labels; and what
 * belongs to an island is added up by integer atomics, in no order. */
#include "device.cuh"
#include "backend/edges.h"
#include "backend/moments.h"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    WORD = 32, /* pixels of a word of a map */
    BLOCK_WORDS = TILES_A_BLOCK * TILE / WORD,
    WARP_TILES = TILES_A_BLOCK / WARPS,
    THREAD_RUNS = RUNS_A_BLOCK / THREADS,
};

/* Blocks of find_runs, which mostly waits, on a multiprocessor, where that has the threads. */
#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100
enum { FIND_BLOCKS = 7 };
#else
enum { FIND_BLOCKS = 1 };
#endif

static_assert((int)TILES_A_BLOCK % WARPS == 0 && (int)RUNS_A_BLOCK % THREADS == 0, "whole shares");
static_assert(TILE == WARP * WORD, "a word a lane");

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
    int64_t block, before, end; /* its number, and the sums before it and to its end */
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
            shared->before = of_blocks;
            shared->end = of_blocks + own;
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

/* A word of the map of candidates that has some: most have none. */
struct word {
    uint32_t candidates, above; /* and those above the threshold */
    uint16_t place;             /* of the word, in its block */
    uint16_t value;             /* of its first candidate, behind the first of the tile */
};

struct words_shared {
    word words[BLOCK_WORDS];
    uint16_t runs_before[BLOCK_WORDS + 1]; /* each of them, in the block; the last unless all are */
    int64_t tile_value[TILES_A_BLOCK];
    int tile_first[TILES_A_BLOCK]; /* the first of the words in a tile, or after it */
    int warps[WARPS];
    block_shared sums;
};
static_assert((int)TILES_A_BLOCK * TILE <= UINT16_MAX + 1, "16 bits count what is before a pixel");

/* Gathers the words of a block's tiles, in their order; returns how many there are. What is to be
 * loaded for a warp's tiles is under way together. */
static __device__ int collect_words(const job &j, int64_t first, words_shared *s) {
    static_assert((int)WARP_TILES <= WARP, "a tile a lane");
    const int lane = lane_of_thread(), warp_first = (int)threadIdx.x / WARP * WARP_TILES;
    const bool ready = is_ready(j);
    uint32_t candidates[WARP_TILES];
    unsigned filled[WARP_TILES], filled_tiles = 0;
    int n = 0;
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        const int64_t tile = first + warp_first + i;
        candidates[i] = ready && tile < j.n_tiles ? j.candidates[tile * WARP + lane] : 0;
    }
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        filled[i] = __ballot_sync(ALL_LANES, candidates[i] != 0);
        filled_tiles |= (filled[i] != 0) << i;
        n += __popc(filled[i]);
    }
    if (filled_tiles >> lane & 1)
        s->tile_value[warp_first + lane] = j.tile_value[first + warp_first + lane];
    if (lane == 0)
        s->warps[threadIdx.x / WARP] = n;
    __syncthreads();
    const int of_warps = lane < WARPS ? s->warps[lane] : 0;
    int place = warp_sum(lane < (int)threadIdx.x / WARP ? of_warps : 0);
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        const int tile = warp_first + i;
        if (lane == 0)
            s->tile_first[tile] = place;
        if (filled[i] == 0)
            continue;
        const int before = warp_sum_before(__popc(candidates[i]));
        if (candidates[i])
            s->words[place + __popc(filled[i] & lanes_before())] = {
                candidates[i], 0, (uint16_t)(tile * WARP + lane), (uint16_t)before};
        place += __popc(filled[i]);
    }
    __syncthreads();
    return warp_sum(of_warps);
}

/* The number of a word's first value. */
static __device__ int64_t first_value(const words_shared &s, const word &w) {
    return s.tile_value[w.place / WARP] + w.value;
}

/* Which of a word's candidates are above the threshold. */
static __device__ uint32_t find_above(const job &j, const words_shared &s, const word &w) {
    enum { AT_ONCE = 8 };
    const float threshold = j.state->thresholds.island;
    const float *values = j.values + first_value(s, w);
    uint32_t above = 0;
    for (uint32_t rest = w.candidates; rest; values += AT_ONCE) {
        float v[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            v[i] = i < __popc(rest) ? values[i] : -INFINITY;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++, rest &= rest - 1)
            above |= v[i] >= threshold ? rest & -rest : 0;
    }
    return above;
}

/* The runs of a word. Those that go on are cut at the ends of tiles only. */
struct word_runs {
    uint32_t starts, ends; /* their first and last pixels, a bit each */
    bool open;             /* the first one began in the word before */
};

/* Pixels that are the first of a row, from one to the first of the next word. */
static __device__ uint64_t row_starts(const job &j, int64_t first) {
    uint64_t starts = 0;
    for (int64_t i = row_of(j, first + j.pitch - 1) * j.pitch - first; i <= WORD; i += j.pitch)
        starts |= (uint64_t)1 << i;
    return starts;
}

static __device__ int64_t first_pixel(int64_t tile, const word &w) {
    return tile * TILE + (int64_t)w.place * WORD;
}

/* The i-th of n words; the block's first tile is `tile`. */
static __device__ word_runs find_word_runs(const job &j, int64_t tile, const word *words, int n,
                                           int i) {
    const word &w = words[i];
    const uint64_t rows = row_starts(j, first_pixel(tile, w));
    const bool goes_back = i > 0 && w.place % WARP > 0 && words[i - 1].place == w.place - 1;
    const bool goes_on = i + 1 < n && w.place % WARP < WARP - 1 &&
                         words[i + 1].place == w.place + 1 && !(rows >> WORD);
    const uint32_t last_before = goes_back ? words[i - 1].above >> (WORD - 1) : 0;
    const uint32_t first_after = goes_on ? words[i + 1].above & 1 : 0;
    const uint32_t row = (uint32_t)rows;
    word_runs r;
    r.starts = w.above & (~(w.above << 1 | last_before) | row);
    r.ends = w.above & ~((w.above & ~row) >> 1 | first_after << (WORD - 1));
    r.open = w.above & ~r.starts & 1;
    return r;
}

/* Writes a word's runs, of which the first to begin there has the number `start`; its first value
 * has the number `value`. */
static __device__ void write_word_runs(const job &j, const word &w, const word_runs &r,
                                       int64_t pixel, int64_t value, int64_t start) {
    int64_t end = r.open ? start - 1 : start;
    for (uint32_t rest = r.starts; rest; rest &= rest - 1) {
        const uint32_t before = (rest & -rest) - 1;
        j.runs[start].first = pixel + __popc(before);
        j.runs[start].value = value + __popc(w.candidates & before);
        j.parent[start] = (int)start;
        start++;
    }
    for (uint32_t rest = r.ends; rest; rest &= rest - 1)
        j.runs[end++].last = pixel + __ffs(rest) - 1;
}

/* How many runs there are before each of a block's tiles; the last tile is none. */
static __device__ void write_tile_runs(const job &j, int64_t first, const words_shared &s) {
    const int64_t tile = first + threadIdx.x;
    if (threadIdx.x >= TILES_A_BLOCK || tile > j.n_tiles)
        return;
    const int64_t before = s.sums.before + s.runs_before[s.tile_first[threadIdx.x]];
    j.tile_runs[tile] = before;
    if (tile == j.n_tiles)
        j.state->n_runs = before;
}

/* Counts the runs of a thread's words [first, end), of n, also before each of them. */
static __device__ int count_word_runs(const job &j, int64_t tile, int n, int first, int end,
                                      words_shared *s) {
    int n_runs = 0;
    for (int i = first; i < end; i++) {
        s->runs_before[i] = (uint16_t)n_runs;
        n_runs += __popc(find_word_runs(j, tile, s->words, n, i).starts);
    }
    return n_runs;
}

/* A block takes TILES_A_BLOCK tiles apart, and writes their runs behind those of all blocks before
 * it. Each thread has some words that follow each other; that it finds their runs twice takes less
 * than to keep them meanwhile. */
static __global__ void __launch_bounds__(THREADS, FIND_BLOCKS)
    find_runs(const __grid_constant__ job j) {
    __shared__ words_shared s;
    wait_for_earlier();
    const int64_t block = take_ticket(j.tile_blocks, &s.sums), tile = block * TILES_A_BLOCK;
    const int n = collect_words(j, tile, &s), each = (n + THREADS - 1) / THREADS;
    const int first = min((int)threadIdx.x * each, n), end = min(first + each, n);
    for (int i = first; i < end; i++)
        s.words[i].above = find_above(j, s, s.words[i]);
    __syncthreads();
    const int n_runs = count_word_runs(j, tile, n, first, end, &s);
    int64_t start = sum_before(j.tile_blocks, block, n_runs, &s.sums);
    const int before = (int)(start - s.sums.before);
    for (int i = first; i < end; i++)
        s.runs_before[i] += (uint16_t)before;
    if (threadIdx.x == THREADS - 1)
        s.runs_before[n] = (uint16_t)(before + n_runs);
    __syncthreads();
    write_tile_runs(j, tile, s);
    if (s.sums.end > j.runs_room)
        return;
    for (int i = first; i < end; i++) {
        const word &w = s.words[i];
        const word_runs runs = find_word_runs(j, tile, s.words, n, i);
        write_word_runs(j, w, runs, first_pixel(tile, w), first_value(s, w), start);
        start += __popc(runs.starts);
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

/* Makes the earlier one the parent of the later one, which mostly has none yet; then that of the
 * roots above both, until they have the same (Komura 2015,
 * Comput. Phys. Commun. 194, 54; Playne and Hawick 2018, IEEE TPDS 29, 1217). */
static __device__ void join(int *parent, int a, int b) {
    for (;;) {
        const int earlier = min(a, b), later = max(a, b);
        const int before = atomicMin(&parent[later], earlier);
        if (before == later || before == earlier)
            return;
        a = root_of(parent, earlier); /* `later` had a parent, which is to be joined too */
        b = root_of(parent, before);
        if (a == b)
            return;
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

static __global__ void __launch_bounds__(THREADS) join_runs(const __grid_constant__ job j) {
    wait_for_earlier();
    const int n = (int)runs_with_room(j);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS)
        join_run(j, (int)i, j.runs[i]);
}

/* --- what tells whether an island counts --- */

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
    e.reach[LEFT_END] = -p.x0;
    e.reach[RIGHT_END] = p.x1;
    e.reach[UPPER_END] = p.y;
    e.reach[ON_EDGE] = edges_touch(p.x0, p.x1, p.y, j.width, j.height, j.pitch, blank);
    return e;
}

/* Leads each run to its root, which begins with its own extent. */
static __global__ void __launch_bounds__(THREADS) find_roots(const __grid_constant__ job j) {
    wait_for_earlier();
    const int64_t n = runs_with_room(j);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        const int root = root_of(j.parent, (int)i);
        if (root == i)
            j.extents[i] = extent_of(j, (int)i, j.runs[i]);
        else
            j.parent[i] = root;
    }
}

static __device__ extent warp_extent(const extent &e) {
    extent all = {warp_sum(e.n_pixels), warp_max(e.peak), {}};
    for (int i = 0; i < REACHES; i++)
        all.reach[i] = warp_max(e.reach[i]);
    return all;
}

/* What the runs of a warp add to the extents of their roots. */
struct warp_extents {
    int root[WARP]; /* -1 where there are none */
    int reach[WARP * REACHES];
};

/* Adds a lane's extent to that of a root, if it has pixels. Neighbouring lanes take what goes to
 * neighbouring places, so that memory has less to do. By a warp. */
static __device__ void add_extent(const job &j, int root, const extent &e, warp_extents *s) {
    const int lane = lane_of_thread();
    s->root[lane] = e.n_pixels > 0 ? root : -1;
    for (int i = 0; i < REACHES; i++)
        s->reach[lane * REACHES + i] = e.reach[i];
    if (e.n_pixels > 0) {
        atomicAdd(&j.extents[root].n_pixels, e.n_pixels);
        atomicMax(&j.extents[root].peak, e.peak);
    }
    __syncwarp();
#pragma unroll
    for (int k = lane; k < WARP * REACHES; k += WARP) {
        const int to = s->root[k / REACHES];
        if (to >= 0)
            atomicMax(&j.extents[to].reach[k % REACHES], s->reach[k]);
    }
    __syncwarp();
}

/* Whether all lanes have runs of one island: then they add up first, so that large islands do not
 * make all threads of the device wait for one number. */
static __device__ bool is_one_island(int root) {
    const int first = __shfl_sync(ALL_LANES, root, 0);
    return __all_sync(ALL_LANES, root >= 0 && root == first);
}

/* Adds each run's extent to that of its root, which is there. */
static __global__ void __launch_bounds__(THREADS) add_extents(const __grid_constant__ job j) {
    __shared__ warp_extents of_warp[WARPS];
    warp_extents *const s = &of_warp[threadIdx.x / WARP];
    wait_for_earlier();
    const int64_t n = runs_with_room(j);
    for (int64_t warp = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane_of_thread(); warp < n;
         warp += (int64_t)gridDim.x * THREADS) {
        const int64_t i = warp + lane_of_thread();
        const int root = i < n ? j.parent[i] : -1;
        extent e = {0, 0, {INT_MIN, INT_MIN, INT_MIN, 0}};
        if (i < n && root != i)
            e = extent_of(j, (int)i, j.runs[i]);
        if (is_one_island(root)) {
            e = warp_extent(e);
            if (lane_of_thread() > 0)
                e.n_pixels = 0;
        }
        add_extent(j, root, e, s);
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
    const extent e = j.extents[root]; /* all of it at once, before anything is written */
    const int64_t first = j.runs[root].first;
    const float threshold = j.state->thresholds.island;
    start->n_pixels = (int64_t)e.n_pixels;
    start->x_min = -e.reach[LEFT_END];
    start->x_max = e.reach[RIGHT_END];
    start->y_min = (int)row_of(j, first);
    start->y_max = e.reach[UPPER_END];
    start->peak = peak_of(e);
    start->edge = e.reach[ON_EDGE];
    start->unit = moments_unit(start, threshold);
    start->small = moments_are_small(start, threshold);
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
    __shared__ int roots[RUNS_A_BLOCK]; /* of the islands that count */
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
    const int64_t end = shared.end;
    if ((block + 1) * RUNS_A_BLOCK >= n && threadIdx.x == 0)
        j.state->n_counting = end;
    if (end > j.counting_room)
        return;
    for (int i = 0; i < THREAD_RUNS && first + i < n; i++) {
        j.place[first + i] = counting[i] ? (int)place : -1;
        if (counting[i])
            roots[place++ - shared.before] = (int)(first + i);
    }
    clear_islands(j.islands + shared.before, end - shared.before);
    __syncthreads();
    for (int64_t i = shared.before + threadIdx.x; i < end; i += THREADS)
        start_island(j, roots[i - shared.before], &j.islands[i]);
}

/* --- moments --- */

/* How many runs there are to sum up: all, if there is room for the islands that count; else none.
 */
static __device__ int64_t runs_to_sum(const job &j) {
    return j.state->n_counting <= j.counting_room ? runs_with_room(j) : 0;
}

/* Of one of an island's sums. */
static __device__ unsigned long long *lower_half(island *i, int moment) {
    return (unsigned long long *)&i->low[moment];
}

/* What the runs of a warp add to islands whose sums are small; no place for other islands. */
struct small_moments {
    int place[WARP];
    unsigned long long values[WARP * MOMENTS];
};

static __device__ void put_small_moments(const island &m, small_moments *s) {
#pragma unroll
    for (int i = 0; i < MOMENTS; i++)
        s->values[lane_of_thread() * MOMENTS + i] = m.low[i];
}

/* The upper halves stay 0; nobody waits for what was there. Neighbouring lanes add to neighbouring
 * places, which go to the memory together; many of the first row's and column's sums are 0. */
static __device__ void add_small_moments(const job &j, const small_moments &s) {
#pragma unroll
    for (int k = lane_of_thread(); k < WARP * MOMENTS; k += WARP) {
        const int place = s.place[k / MOMENTS];
        if (place >= 0 && s.values[k])
            atomicAdd(lower_half(&j.islands[place], k % MOMENTS), s.values[k]);
    }
}

/* The additions of lower halves are under way together, before any of them is waited for. */
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

/* Adds a run's pixels up, in its island's units; and if it has the peak, says where. */
static __device__ island sum_run(const job &j, int64_t i, int root, island *to) {
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

/* Each branch has a call of sum_run of its own: where sums are small, only their lower halves are
 * computed then. Most of the time goes into waiting, so that four blocks of a multiprocessor are
 * worth the few registers that do not suffice. */
static __global__ void __launch_bounds__(THREADS, 4) sum_moments(const __grid_constant__ job j) {
    __shared__ small_moments of_warp[WARPS];
    small_moments *const s = &of_warp[threadIdx.x / WARP];
    wait_for_earlier();
    const int64_t n = runs_to_sum(j);
    for (int64_t warp = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane_of_thread(); warp < n;
         warp += (int64_t)gridDim.x * THREADS) {
        const int64_t i = warp + lane_of_thread();
        const int root = i < n ? j.parent[i] : -1;
        const int place = i < n ? j.place[root] : -1;
        const bool counted = place >= 0;
        island *const to = counted ? &j.islands[place] : NULL;
        if (is_one_island(counted ? root : -1)) {
            island m = sum_run(j, i, root, to);
            warp_moments(&m);
            if (lane_of_thread() == 0)
                add_moments(to, m);
            continue;
        }
        s->place[lane_of_thread()] = counted && to->small ? place : -1;
        if (counted && to->small) {
            island m = sum_run(j, i, root, to);
            put_small_moments(m, s);
        } else if (counted) {
            island m = sum_run(j, i, root, to);
            add_moments(to, m);
        }
        __syncwarp();
        add_small_moments(j, *s);
        __syncwarp();
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
        status = launch_for_runs(find_roots, job, stream);
    if (!status)
        status = launch_for_runs(add_extents, job, stream);
    if (!status)
        status = launch_next(number_islands, (unsigned)(job->run_words - 1), THREADS, stream, *job);
    return status ? status : launch_for_runs(sum_moments, job, stream);
}
