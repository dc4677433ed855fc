/* From candidates to the moments of islands: pixels above the threshold become runs, which are cut
 * at the ends of tiles; runs that touch are joined by union-find, where the earlier root wins, so
 * that an island's root is its first run and the roots' order is that of the labels; and what
 * belongs to an island is added up by integer atomics, in no order. */
#include "device.cuh"
#include "edges.h"
#include "moments.h"

enum { THREADS = 256, WARPS = THREADS / WARP, LANE_PIXELS = TILE / WARP /* 32: a word of a map */ };

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

/* --- runs --- */

/* The pixels of a lane, one after the other, a bit each. */
struct lane_pixels {
    uint32_t candidates, starts, ends; /* the first and the last pixels of runs */
    int64_t first;                     /* pixel */
    int64_t value;                     /* of its first candidate */
};

/* Which of a lane's candidates are above the threshold: bit k for the k-th of them. The warp's n
 * values lie together; `before` of them belong to the lanes before. */
static __device__ uint32_t test_values(const job &j, int64_t value, int n, int before) {
    const float threshold = j.state->thresholds.island;
    uint64_t above = 0; /* of those from `first` on */
    uint32_t mine = 0;
    for (int first = 0; first < n; first += WARP) {
        const int i = first + lane_of_thread();
        above = __ballot_sync(ALL_LANES, i < n && j.values[value + i] >= threshold);
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
static __device__ lane_pixels take_apart(const job &j, int64_t tile) {
    const int lane = lane_of_thread();
    lane_pixels p = {};
    p.candidates = j.candidates[tile * WARP + lane];
    if (!__any_sync(ALL_LANES, p.candidates != 0))
        return p;
    p.first = tile * TILE + lane * LANE_PIXELS;
    const int n = __popc(p.candidates), before_lane = warp_sum_before(n);
    const int64_t value = j.tile_value[tile];
    p.value = value + before_lane;
    const uint32_t all = n < WARP ? (1u << n) - 1 : ~0u;
    const uint32_t bits = test_values(j, value, warp_sum(n), before_lane) & all;
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

static __global__ void __launch_bounds__(THREADS) count_runs(const __grid_constant__ job j) {
    const int64_t warp = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    const bool ready = is_ready(j);
    for (int64_t tile = warp; tile < j.n_tiles; tile += (int64_t)gridDim.x * WARPS) {
        const int n = ready ? warp_sum(__popc(take_apart(j, tile).starts)) : 0;
        if (lane_of_thread() == 0)
            j.tile_runs[tile] = n;
    }
    if (warp == 0 && lane_of_thread() == 0)
        j.tile_runs[j.n_tiles] = 0;
}

/* How many runs there are, if there is room for them; else none. */
static __device__ int64_t runs_with_room(const job &j) {
    const int64_t n = j.tile_runs[j.n_tiles];
    return n <= j.runs_room ? n : 0;
}

static __global__ void __launch_bounds__(THREADS) write_runs(const __grid_constant__ job j) {
    const int64_t warp = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    if (warp == 0 && lane_of_thread() == 0)
        j.state->n_runs = j.tile_runs[j.n_tiles];
    if (runs_with_room(j) == 0)
        return;
    for (int64_t tile = warp; tile < j.n_tiles; tile += (int64_t)gridDim.x * WARPS) {
        const int64_t first = j.tile_runs[tile];
        if (j.tile_runs[tile + 1] == first)
            continue;
        const lane_pixels p = take_apart(j, tile);
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

/* Marks the roots of islands that count, up to the end of the room. */
static __global__ void __launch_bounds__(THREADS) mark_counting(const __grid_constant__ job j) {
    const int64_t n = runs_with_room(j);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i <= j.runs_room;
         i += (int64_t)gridDim.x * THREADS)
        j.place[i] = i < n && j.parent[i] == i &&
                     peak_of(j.extents[i]) >= j.state->thresholds.detection &&
                     j.extents[i].n_pixels >= (unsigned long long)j.detection.min_pixels;
}

/* --- moments --- */

/* How many runs there are to sum up: all, if there is room for the islands that count; else none.
 */
static __device__ int64_t runs_to_sum(const job &j) {
    return j.place[j.runs_room] <= j.counting_room ? runs_with_room(j) : 0;
}

static __device__ bool counts(const job &j, int64_t root) {
    return j.place[root + 1] > j.place[root];
}

/* The host takes islands whole, with what lies between their members. */
static __device__ void clear(island *i) {
    static_assert(sizeof *i % sizeof(uint4) == 0, "an island is a number of 16 bytes");
    for (size_t part = 0; part < sizeof *i / sizeof(uint4); part++)
        reinterpret_cast<uint4 *>(i)[part] = make_uint4(0, 0, 0, 0);
}

static __global__ void __launch_bounds__(THREADS) start_islands(const __grid_constant__ job j) {
    const int64_t n = runs_to_sum(j);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        j.state->n_counting = j.place[j.runs_room];
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        if (!counts(j, i))
            continue;
        const extent &e = j.extents[i];
        island &start = j.islands[j.place[i]];
        clear(&start);
        start.n_pixels = (int64_t)e.n_pixels;
        start.x_min = e.x_min;
        start.x_max = e.x_max;
        start.y_min = e.y_min;
        start.y_max = e.y_max;
        start.peak = peak_of(e);
        start.edge = e.edge;
        start.unit = moments_unit(&start, j.state->thresholds.island);
    }
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
    for (int x = p.x0; x <= p.x1; x++)
        moments_add(&m, moments_quantise(value[x - p.x0], per_unit), (int64_t)x - to->x_min,
                    (int64_t)p.y - to->y_min);
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
    const int64_t n = runs_to_sum(j);
    for (int64_t warp = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane_of_thread(); warp < n;
         warp += (int64_t)gridDim.x * THREADS) {
        const int64_t i = warp + lane_of_thread();
        const int root = i < n ? j.parent[i] : -1;
        const bool counted = i < n && counts(j, root);
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

static cudaError_t launch(job_kernel *kernel, const job *job, int64_t work, cudaStream_t stream) {
    unsigned blocks;
    const cudaError_t status = blocks_for(kernel, THREADS, (work + THREADS - 1) / THREADS, &blocks);
    if (status)
        return status;
    kernel<<<blocks, THREADS, 0, stream>>>(*job);
    return cudaGetLastError();
}

static cudaError_t find_runs(const struct job *job, cudaStream_t stream) {
    size_t size = job->temporary_size;
    cudaError_t status = launch(count_runs, job, job->n_tiles * WARP, stream);
    if (!status)
        status = cub_sum_int64(job->temporary, &size, job->tile_runs, job->n_tiles + 1, stream);
    return status ? status : launch(write_runs, job, job->n_tiles * WARP, stream);
}

static cudaError_t find_extents(const struct job *job, cudaStream_t stream) {
    size_t size = job->temporary_size;
    cudaError_t status = launch(join_runs, job, job->runs_room, stream);
    if (!status)
        status = launch(add_extents, job, job->runs_room, stream);
    if (!status)
        status = launch(mark_counting, job, job->runs_room, stream);
    return status ? status
                  : cub_sum_int(job->temporary, &size, job->place, job->runs_room + 1, stream);
}

static cudaError_t find_moments(const struct job *job, cudaStream_t stream) {
    const cudaError_t status = launch(start_islands, job, job->runs_room, stream);
    return status ? status : launch(sum_moments, job, job->runs_room, stream);
}

cudaError_t launch_islands(const struct job *job, cudaStream_t stream) {
    cudaError_t status = find_runs(job, stream);
    if (!status)
        status = find_extents(job, stream);
    return status ? status : find_moments(job, stream);
}
