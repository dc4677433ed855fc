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

/* --- runs --- */

/* The pixels of a lane, one after the other, a bit each. */
struct lane_pixels {
    uint32_t candidates, starts, ends; /* the first and the last pixels of runs */
    int64_t first;                     /* pixel */
    int64_t value;                     /* of its first candidate */
};

/* The candidates that are above the threshold. */
static __device__ uint32_t above_threshold(const job &j, const lane_pixels &p) {
    const float threshold = j.state->thresholds.island;
    uint32_t above = 0;
    int64_t value = p.value;
    for (uint32_t rest = p.candidates; rest; rest &= rest - 1)
        if (j.values[value++] >= threshold)
            above |= rest & -rest;
    return above;
}

/* Pixels that are the first of a row. */
static __device__ uint32_t row_starts(const job &j, int64_t first) {
    uint32_t starts = 0;
    for (int64_t i = (j.pitch - first % j.pitch) % j.pitch; i < LANE_PIXELS; i += j.pitch)
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
    p.value = j.tile_value[tile] + warp_sum_before(__popc(p.candidates));
    const uint32_t above = above_threshold(j, p), rows = row_starts(j, p.first);
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

/* Joins each run with those it touches in the row above, and with the one before it where a tile's
 * end has cut a run in two. */
static __global__ void __launch_bounds__(THREADS) join_runs(const __grid_constant__ job j) {
    const int64_t n = runs_with_room(j);
    const int reach = j.detection.connectivity == 8 ? 1 : 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        const run r = j.runs[i];
        const int64_t row = r.first / j.pitch * j.pitch; /* its first pixel */
        if (i > 0 && r.first > row && j.runs[i - 1].last == r.first - 1)
            join(j.parent, (int)i - 1, (int)i);
        if (row == 0)
            continue;
        const int64_t above = row - j.pitch;
        const int64_t first = max(r.first - j.pitch - reach, above);
        const int64_t last = min(r.last - j.pitch + reach, above + j.width - 1);
        for (int64_t k = find_run(j, first); k < i && j.runs[k].first <= last; k++)
            join(j.parent, (int)k, (int)i);
    }
}

/* Leads each run to its root, and marks the roots, up to the end of the room. */
static __global__ void __launch_bounds__(THREADS) mark_roots(const __grid_constant__ job j) {
    const int64_t n = runs_with_room(j);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i <= j.runs_room;
         i += (int64_t)gridDim.x * THREADS) {
        const int root = i < n ? root_of(j.parent, (int)i) : -1;
        j.number[i] = root == i;
        if (i < n)
            j.parent[i] = root;
    }
}

/* --- what tells whether an island counts --- */

static __device__ int64_t islands_with_room(const job &j) {
    const int64_t n = j.number[j.runs_room];
    return n <= j.islands_room ? n : 0;
}

static __global__ void __launch_bounds__(THREADS) start_extents(const __grid_constant__ job j) {
    const int64_t n = islands_with_room(j);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        j.state->n_islands = j.number[j.runs_room];
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS)
        j.extents[i] = {0, 0, INT_MAX, -1, INT_MAX, -1, 0};
}

/* A run as part of an island. */
struct part {
    int island;
    int x0, x1, y;
};

static __device__ part part_of(const job &j, int64_t i) {
    const run r = j.runs[i];
    const int y = (int)(r.first / j.pitch);
    const int x0 = (int)(r.first - y * j.pitch);
    return {j.number[j.parent[i]], x0, x0 + (int)(r.last - r.first), y};
}

/* Of a run, as if it were an island. */
static __device__ extent extent_of(const job &j, int64_t i, const part &p) {
    const uint64_t *blank = j.state->totals.n_blank > 0 ? (const uint64_t *)j.blank : NULL;
    const float *value = j.values + j.runs[i].value;
    uint32_t key = 0;
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
static __device__ bool is_one_island(int island) {
    const int first = __shfl_sync(ALL_LANES, island, 0);
    return __all_sync(ALL_LANES, island >= 0 && island == first);
}

static __global__ void __launch_bounds__(THREADS) add_extents(const __grid_constant__ job j) {
    const int64_t n = islands_with_room(j) > 0 ? runs_with_room(j) : 0;
    for (int64_t warp = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane_of_thread(); warp < n;
         warp += (int64_t)gridDim.x * THREADS) {
        const int64_t i = warp + lane_of_thread();
        part p = {-1, 0, 0, 0};
        extent e = {};
        if (i < n) {
            p = part_of(j, i);
            e = extent_of(j, i, p);
        }
        if (is_one_island(p.island)) {
            e = warp_extent(e);
            if (lane_of_thread() == 0)
                add_extent(&j.extents[p.island], e);
        } else if (i < n) {
            add_extent(&j.extents[p.island], e);
        }
    }
}

static __device__ float peak_of(const extent &e) {
    return exact_unkey((uint32_t)(e.peak >> 32));
}

static __global__ void __launch_bounds__(THREADS) mark_counting(const __grid_constant__ job j) {
    const int64_t n = islands_with_room(j);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i <= j.islands_room;
         i += (int64_t)gridDim.x * THREADS)
        j.place[i] = i < n && peak_of(j.extents[i]) >= j.state->thresholds.detection &&
                     j.extents[i].n_pixels >= (unsigned long long)j.detection.min_pixels;
}

/* --- moments --- */

/* How many islands there are to sum up: all that count, if there is room for them; else none. */
static __device__ int64_t counting_with_room(const job &j) {
    const int64_t n = j.place[j.islands_room];
    return n <= j.counting_room ? n : 0;
}

static __device__ bool counts(const job &j, int island) {
    return j.place[island + 1] > j.place[island];
}

/* The host takes islands whole, with what lies between their members. */
static __device__ void clear(island *i) {
    static_assert(sizeof *i % sizeof(uint4) == 0, "an island is a number of 16 bytes");
    for (size_t part = 0; part < sizeof *i / sizeof(uint4); part++)
        reinterpret_cast<uint4 *>(i)[part] = make_uint4(0, 0, 0, 0);
}

static __global__ void __launch_bounds__(THREADS) start_islands(const __grid_constant__ job j) {
    const int64_t n = counting_with_room(j) > 0 ? islands_with_room(j) : 0;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        j.state->n_counting = j.place[j.islands_room];
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        if (!counts(j, (int)i))
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

static __device__ void add_moments(island *to, const island &m) {
    atomic_add_128(&to->q, (uint128)m.q);
    atomic_add_128(&to->qx, (uint128)m.qx);
    atomic_add_128(&to->qy, (uint128)m.qy);
    atomic_add_128(&to->qxx, (uint128)m.qxx);
    atomic_add_128(&to->qyy, (uint128)m.qyy);
    atomic_add_128(&to->qxy, (uint128)m.qxy);
    atomic_add_128(&to->x, (uint128)m.x);
    atomic_add_128(&to->y, (uint128)m.y);
    atomic_add_128(&to->xx, (uint128)m.xx);
    atomic_add_128(&to->yy, (uint128)m.yy);
    atomic_add_128(&to->xy, (uint128)m.xy);
}

static __device__ void warp_moments(island *m) {
    int128 *const moments[] = {&m->q, &m->qx, &m->qy, &m->qxx, &m->qyy, &m->qxy,
                               &m->x, &m->y,  &m->xx, &m->yy,  &m->xy};
    for (int128 *moment : moments)
        *moment = (int128)warp_sum_128((uint128)*moment);
}

/* Adds a run's pixels up, in its island's units; and if it has the peak, says where. */
static __device__ island moments_of(const job &j, int64_t i, const part &p, island *to) {
    const float *value = j.values + j.runs[i].value;
    const double per_unit = ldexp(1.0, -to->unit);
    island m = {};
    for (int x = p.x0; x <= p.x1; x++)
        moments_add(&m, moments_quantise(value[x - p.x0], per_unit), (int64_t)x - to->x_min,
                    (int64_t)p.y - to->y_min);
    if ((uint32_t)j.extents[p.island].peak == (uint32_t)~i) {
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
    const int64_t n = counting_with_room(j) > 0 ? runs_with_room(j) : 0;
    for (int64_t warp = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane_of_thread(); warp < n;
         warp += (int64_t)gridDim.x * THREADS) {
        const int64_t i = warp + lane_of_thread();
        part p = {-1, 0, 0, 0};
        island m = {};
        if (i < n)
            p = part_of(j, i);
        const bool counted = i < n && counts(j, p.island);
        island *to = counted ? &j.islands[j.place[p.island]] : NULL;
        if (counted)
            m = moments_of(j, i, p, to);
        if (is_one_island(counted ? p.island : -1)) {
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

static cudaError_t number_islands(const struct job *job, cudaStream_t stream) {
    size_t size = job->temporary_size;
    cudaError_t status = launch(join_runs, job, job->runs_room, stream);
    if (!status)
        status = launch(mark_roots, job, job->runs_room, stream);
    return status ? status
                  : cub_sum_int(job->temporary, &size, job->number, job->runs_room + 1, stream);
}

static cudaError_t find_extents(const struct job *job, cudaStream_t stream) {
    size_t size = job->temporary_size;
    cudaError_t status = launch(start_extents, job, job->islands_room, stream);
    if (!status)
        status = launch(add_extents, job, job->runs_room, stream);
    if (!status)
        status = launch(mark_counting, job, job->islands_room, stream);
    return status ? status
                  : cub_sum_int(job->temporary, &size, job->place, job->islands_room + 1, stream);
}

static cudaError_t find_moments(const struct job *job, cudaStream_t stream) {
    const cudaError_t status = launch(start_islands, job, job->islands_room, stream);
    return status ? status : launch(sum_moments, job, job->runs_room, stream);
}

cudaError_t launch_islands(const struct job *job, cudaStream_t stream) {
    cudaError_t status = find_runs(job, stream);
    if (!status)
        status = number_islands(job, stream);
    if (!status)
        status = find_extents(job, stream);
    return status ? status : find_moments(job, stream);
}
