/* Local noise: the clip of the box of each node.
 *
 * 1. The borders of all boxes divide the image into cells (cpu/cells.h). sort_cells: a warp sums
 *    the pixels of a cell, and sorts their keys in registers, in chunks of 512 (bitonic sort).
 * 2. clip_boxes: a team of 16 lanes clips a box; a lane has some of its cells. The guess of median
 *    and rms comes from the median chunk of the box.
 * 3. A median is found by dividing a range of keys by interpolation: the number of keys below a
 *    bound is a binary search in each chunk. When at most 16 keys are left, the team gathers and
 *    ranks them.
 * 4. A round removes the keys outside of the bounds, and adds them to the removed sums; the sums of
 *    the box less these give the rms, in double-double arithmetic.
 *
 * Always: the result has the bits of the CPU's (clip_box.c). A box whose last bit of the rms is in
 * doubt gets rms -1, and the host clips it.
 *
 * Cost: one read of the image, 4 bytes a pixel for sorted keys; boxes read parts of chunks from the
 * cache. */
#include "backend/boxes.h"
#include "device.cuh"

enum {
    THREADS = 128,
    WARPS = THREADS / WARP,
    LANE_KEYS = 16,           /* of a warp that sorts a chunk */
    CHUNK = WARP * LANE_KEYS, /* keys that a warp sorts in registers */
    PADDED = CHUNK + WARP,    /* words of shared memory through which it stores them */
    TEAM = 16,                /* the usual box, three steps wide, has nine cells */
    TEAMS = THREADS / TEAM,
    FEW_KEYS = 8,      /* a chunk with fewer is no sample of its box */
    INTERPOLATED = 10, /* later divisions of a range of keys take its middle */
    ASIDE = TEAM / 3,  /* ranks by which an interpolation aims beside the wanted ones */
};

static const unsigned TEAM_LANES = ALL_LANES >> (WARP - TEAM);

/* --- sums --- */

static __device__ double shuffle(unsigned lanes, double value, int step) {
    return __shfl_xor_sync(lanes, value, step);
}

/* The sums over `n` neighbouring lanes, a power of two, returned to each. */
static __device__ value_sums sums_of_lanes(unsigned lanes, value_sums sums, int n) {
    for (int step = n / 2; step > 0; step /= 2) {
        const value_sums other = {
            (int64_t)__shfl_xor_sync(lanes, sums.n, step),
            {shuffle(lanes, sums.sum.high, step), shuffle(lanes, sums.sum.low, step)},
            {shuffle(lanes, sums.square.high, step), shuffle(lanes, sums.square.low, step)}};
        value_sums_merge(&sums, &other);
    }
    return sums;
}

/* --- sorting --- */

/* Compares keys that are `stride` apart, and exchanges them where they are not in order. Sequences
 * of `size` keys are to ascend and to descend in turn, but descending sequences that fill lanes
 * have their keys inverted, and ascend, too. */
static __device__ inline void exchange_keys(uint32_t (&keys)[LANE_KEYS], int size, int stride) {
#pragma unroll
    for (int i = 0; i < LANE_KEYS; i++) {
        if (stride >= LANE_KEYS) {
            const uint32_t other = __shfl_xor_sync(ALL_LANES, keys[i], stride / LANE_KEYS);
            const bool is_lower = !(lane_of_thread() & stride / LANE_KEYS);
            keys[i] = is_lower ? min(keys[i], other) : max(keys[i], other);
        } else if (!(i & stride)) {
            const uint32_t a = keys[i], b = keys[i | stride];
            const bool descends = i & size; /* never where size >= LANE_KEYS */
            keys[i] = descends ? max(a, b) : min(a, b);
            keys[i | stride] = descends ? min(a, b) : max(a, b);
        }
    }
}

/* Sorts the keys of a warp: lane l gets those from rank LANE_KEYS l on (Batcher 1968, AFIPS 32,
 * 307). */
static __device__ inline void sort_keys(uint32_t (&keys)[LANE_KEYS]) {
    uint32_t inverted = 0;
#pragma unroll
    for (int size = 2; size <= CHUNK; size *= 2) {
        const uint32_t invert = lane_of_thread() * LANE_KEYS & size ? ~0u : 0;
#pragma unroll
        for (uint32_t &key : keys)
            key ^= inverted ^ invert;
        inverted = invert;
#pragma unroll
        for (int stride = size / 2; stride > 0; stride /= 2)
            exchange_keys(keys, size, stride);
    }
}

/* Stores the first n of a warp's sorted keys. `padded` has a free word after every LANE_KEYS, so
 * that lanes use different banks. */
static __device__ inline void store_keys(const uint32_t (&keys)[LANE_KEYS], int n, uint32_t *to,
                                         uint32_t *padded) {
    const int lane = lane_of_thread();
#pragma unroll
    for (int i = 0; i < LANE_KEYS; i++)
        padded[lane * (LANE_KEYS + 1) + i] = keys[i];
    __syncwarp();
    for (int i = lane; i < n; i += WARP)
        to[i] = padded[i + i / LANE_KEYS];
    __syncwarp();
}

/* --- cells --- */

/* A cell, and where its keys are: sorted in chunks, with blanks last. */
struct cell {
    int64_t left, top;
    int width, n; /* n pixels */
    uint32_t *keys;
};

static __device__ cell cell_at(const params &params, int64_t i, int64_t j) {
    const cell_axis &across = params.node_x, &down = params.node_y;
    const int64_t left = across.border[i], top = down.border[j];
    const int64_t width = across.border[i + 1] - left, height = down.border[j + 1] - top;
    return {left, top, (int)width, (int)(width * height),
            params.node_keys + top * params.width + left * height};
}

/* Sorts a chunk of a cell, which begins at its pixel `first`, and adds its pixels to the lanes'
 * sums. */
static __device__ void sort_chunk(const params &params, const cell &c, int first, uint32_t *padded,
                                  value_sums *sums) {
    uint32_t keys[LANE_KEYS];
    const uint32_t *const pixels = params.pixels + c.top * params.pitch + c.left;
#pragma unroll
    for (int i = 0; i < LANE_KEYS; i++) {
        const int at = first + i * WARP + lane_of_thread();
        keys[i] = KEY_PADDING;
        if (at >= c.n)
            continue;
        const int y = (int)((unsigned)at / (unsigned)c.width), x = at - y * c.width;
        const float v = pixel_value(__ldg(pixels + y * params.pitch + x), params.swapped);
        if (!isfinite(v))
            continue;
        keys[i] = exact_key(v);
        value_sums_add(sums, v);
    }
    sort_keys(keys);
    store_keys(keys, min(CHUNK, c.n - first), c.keys + first, padded);
}

/* Sorts and sums each cell, by a warp. */
static __global__ void __launch_bounds__(THREADS)
    sort_cells(const __grid_constant__ params params) {
    __shared__ uint32_t padded[WARPS][PADDED];
    wait_for_earlier();
    const int64_t n_x = params.node_x.n_cells, n = n_x * params.node_y.n_cells;
    for (int64_t k = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP; k < n;
         k += (int64_t)gridDim.x * WARPS) {
        const cell c = cell_at(params, k % n_x, k / n_x);
        value_sums sums = {};
        for (int first = 0; first < c.n; first += CHUNK)
            sort_chunk(params, c, first, padded[threadIdx.x / WARP], &sums);
        sums = sums_of_lanes(ALL_LANES, sums, WARP);
        if (lane_of_thread() == 0)
            params.cells[k] = sums;
    }
}

/* --- the cells of a box --- */

/* A box, as its team sees it: columns and rows of cells. */
struct box {
    int64_t x, y;   /* its first cell */
    int n_x, n;     /* cells of a row, and all */
    int area;       /* pixels, blank ones included */
    unsigned lanes; /* the mask of the team's lanes */
};

static __device__ inline int lane_of_team() {
    return threadIdx.x % TEAM;
}

static __device__ inline int team_sum(const box &b, int value) {
    for (int step = TEAM / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(b.lanes, value, step);
    return value;
}

/* The value of lane `lane` of the team. */
template <typename T> static __device__ inline T from_lane(const box &b, T value, int lane) {
    return __shfl_sync(b.lanes, value, lane, TEAM);
}

/* The lanes of the team with a condition, a bit each. */
static __device__ inline unsigned team_ballot(const box &b, bool condition) {
    return __ballot_sync(b.lanes, condition) >> __ffs(b.lanes) - 1 & TEAM_LANES;
}

/* The number of a box's cell k among all cells. */
static __device__ inline int64_t cell_number(const params &params, const box &b, int k) {
    const int row = k / b.n_x;
    return (b.y + row) * params.node_x.n_cells + b.x + (k - row * b.n_x);
}

static __device__ inline cell cell_of_box(const params &params, const box &b, int k) {
    const int row = k / b.n_x;
    return cell_at(params, b.x + (k - row * b.n_x), b.y + row);
}

static __device__ box box_of(const params &params, uint32_t node) {
    const cell_axis &across = params.node_x, &down = params.node_y;
    const uint32_t n_x = (uint32_t)params.noise.n_x, j = node / n_x, i = node - j * n_x;
    const int64_t x = across.first[i], y = down.first[j], right = across.end[i], top = down.end[j];
    const int64_t width = across.border[right] - across.border[x];
    const int64_t height = down.border[top] - down.border[y];
    const unsigned team = threadIdx.x % WARP / TEAM;
    return {x,
            y,
            (int)(right - x),
            (int)((right - x) * (top - y)),
            (int)(width * height),
            TEAM_LANES << team * TEAM};
}

/* The sums of all pixels of a box. */
static __device__ value_sums sums_of_box(const params &params, const box &b) {
    value_sums sums = {};
    for (int k = lane_of_team(); k < b.n; k += TEAM)
        value_sums_merge(&sums, &params.cells[cell_number(params, b, k)]);
    return sums_of_lanes(b.lanes, sums, TEAM);
}

/* Calls work(keys, n) for each chunk of the lane's cells. */
template <typename Work>
static __device__ inline void for_chunks(const params &params, const box &b, Work work) {
    for (int k = lane_of_team(); k < b.n; k += TEAM) {
        const cell c = cell_of_box(params, b, k);
        for (int at = 0; at < c.n; at += CHUNK)
            work(c.keys + at, min(CHUNK, c.n - at));
    }
}

/* The number of n sorted keys that are less than a key. */
static __device__ inline int count_below(const uint32_t *keys, int n, uint32_t key) {
    int low = 0;
    while (low < n) {
        const int middle = (low + n) / 2;
        if (__ldg(keys + middle) < key)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* The number of keys of a box that are less than a key. */
static __device__ int count_of_box(const params &params, const box &b, uint32_t key) {
    int n = 0;
    for_chunks(params, b,
               [&](const uint32_t *keys, int count) { n += count_below(keys, count, key); });
    return team_sum(b, n);
}

/* --- medians --- */

/* The state of a clip. */
struct box_clip {
    value_sums all;
    double median, rms; /* of the last round, or a guess */
    uint32_t low, high; /* keys within [low, high] are left */
    int n_lower;        /* keys < low */
};

/* Guesses median and rms by the chunk with the median of the medians of the lanes' first chunks. */
static __device__ void guess_noise(const params &params, const box &b, box_clip *c) {
    const int lane = lane_of_team();
    const uint32_t *keys = NULL;
    int n = 0;
    if (lane < b.n) {
        const cell mine = cell_of_box(params, b, lane);
        keys = mine.keys;
        n = count_below(keys, min(CHUNK, mine.n), KEY_PADDING);
    }
    const bool has = n >= FEW_KEYS;
    const uint32_t median = has ? keys[n / 2] : KEY_PADDING;
    const double quartiles =
        has ? (double)exact_unkey(keys[3 * n / 4]) - (double)exact_unkey(keys[n / 4]) : 0;
    const int n_having = __popc(team_ballot(b, has));
    int rank = 0;
    for (int i = 0; i < TEAM; i++) {
        const uint32_t other = from_lane(b, median, i);
        rank += other < median || (other == median && i < lane);
    }
    const int chosen = __ffs(team_ballot(b, rank == n_having / 2)) - 1;
    c->median = n_having > 0 ? (double)exact_unkey(from_lane(b, median, chosen)) : 0;
    c->rms = from_lane(b, quartiles, chosen) / 1.349;
}

/* A key, and the number of keys that are less. */
struct counted {
    uint32_t key;
    int below;
};

/* The wanted keys are >= low.key and < high.key. */
struct bracket {
    counted low, high;
};

/* The values of two neighbouring ranks. */
struct rank_values {
    double lower, upper;
};

/* The values of the ranks `lower` and `upper`, in a bracket of at most TEAM keys, which the team
 * gathers in `gathered`. */
static __device__ rank_values pick_ranks(const params &params, const box &b, const bracket &in,
                                         int lower, int upper, uint32_t *gathered) {
    const int lane = lane_of_team();
    int n = 0;
    __syncwarp(b.lanes); /* the keys of an earlier call have been read */
    for (int first = 0; first < b.n; first += TEAM) { /* all lanes make as many turns */
        const int k = first + lane;
        const cell c = k < b.n ? cell_of_box(params, b, k) : cell{};
        for (int at = 0; team_ballot(b, at < c.n); at += CHUNK) {
            const uint32_t *keys = c.keys + at;
            const int count = max(0, min(CHUNK, c.n - at));
            const int begin = count_below(keys, count, in.low.key);
            const int mine = count_below(keys, count, in.high.key) - begin;
            int before = mine;
            for (int step = 1; step < TEAM; step *= 2) {
                const int other = __shfl_up_sync(b.lanes, before, step, TEAM);
                before += lane >= step ? other : 0;
            }
            for (int i = 0; i < mine; i++)
                gathered[n + before - mine + i] = keys[begin + i];
            n += from_lane(b, before, TEAM - 1);
        }
    }
    __syncwarp(b.lanes);
    const uint32_t key = lane < n ? gathered[lane] : KEY_PADDING;
    int rank = in.low.below;
    for (int i = 0; i < TEAM; i++) {
        const uint32_t other = from_lane(b, key, i);
        rank += other < key || (other == key && i < lane);
    }
    const double value = (double)exact_unkey(key);
    const int of_lower = __ffs(team_ballot(b, rank == lower)) - 1;
    const int of_upper = __ffs(team_ballot(b, rank == upper)) - 1;
    return {from_lane(b, value, of_lower), from_lane(b, value, of_upper)};
}

/* The keys on both sides of a key that divides the two ranks. */
static __device__ rank_values neighbours(const params &params, const box &b, uint32_t key) {
    uint32_t below = 0, above = KEY_PADDING;
    for_chunks(params, b, [&](const uint32_t *keys, int count) {
        const int at = count_below(keys, count, key);
        below = at > 0 ? max(below, keys[at - 1]) : below;
        above = at < count ? min(above, keys[at]) : above;
    });
    for (int step = TEAM / 2; step > 0; step /= 2) {
        below = max(below, __shfl_xor_sync(b.lanes, below, step));
        above = min(above, __shfl_xor_sync(b.lanes, above, step));
    }
    return {(double)exact_unkey(below), (double)exact_unkey(above)};
}

/* The values of the ranks `lower` and `upper`, which are equal or neighbours. A range of keys is
 * divided near them, by interpolation with the density of a Gaussian, until few keys are left. */
static __device__ rank_values find_ranks(const params &params, const box &b, const box_clip &c,
                                         int lower, int upper, uint32_t *gathered) {
    const double apart = 2.5066 * c.rms / (double)c.all.n; /* sqrt(2 pi) */
    bracket in = {{0, 0}, {KEY_LAST + 1, (int)c.all.n}};
    uint32_t key = exact_key((float)c.median);
    for (int i = 1;; i++) {
        if (i > INTERPOLATED || key <= in.low.key || key >= in.high.key)
            key = in.low.key + (in.high.key - in.low.key) / 2;
        const int below = count_of_box(params, b, key);
        if (below > lower && below <= upper)
            return neighbours(params, b, key);
        (below <= lower ? in.low : in.high) = {key, below};
        if (in.high.key - in.low.key == 1) {
            const double value = (double)exact_unkey(in.low.key);
            return {value, value};
        }
        if (in.high.below - in.low.below <= TEAM)
            return pick_ranks(params, b, in, lower, upper, gathered);
        const int aim = below <= lower ? upper + 1 + ASIDE : lower - ASIDE;
        key = exact_key((float)((double)exact_unkey(key) + (aim - below) * apart));
    }
}

/* --- the clip --- */

/* Removes the keys outside of [low, high]. Returns the sums of all keys removed so far; `mine` has
 * those that this lane removed. */
static __device__ value_sums remove_beyond(const params &params, const box &b, uint32_t low,
                                           uint32_t high, box_clip *c, value_sums *mine) {
    int n_lower = 0;
    for_chunks(params, b, [&](const uint32_t *keys, int count) {
        const int begin = count_below(keys, count, c->low), end = count_below(keys, count, low);
        const int above = count_below(keys, count, high + 1);
        const int last = count_below(keys, count, c->high + 1);
        for (int i = begin; i < end; i++)
            value_sums_add(mine, exact_unkey(keys[i]));
        for (int i = above; i < last; i++)
            value_sums_add(mine, exact_unkey(keys[i]));
        n_lower += end - begin;
    });
    c->n_lower += team_sum(b, n_lower);
    c->low = low;
    c->high = high;
    return sums_of_lanes(b.lanes, *mine, TEAM);
}

/* Whether all n keys that are left have one value. */
static __device__ bool are_equal(const params &params, const box &b, const rank_values &median,
                                 int64_t n) {
    const uint32_t key = exact_key((float)median.lower);
    return median.lower == median.upper &&
           count_of_box(params, b, key + 1) - count_of_box(params, b, key) == n;
}

/* The noise of a box with pixels that are not blank; its rms is -1 if it is in doubt. */
static __device__ noise_at clip_box(const params &params, const box &b, box_clip *c,
                                    uint32_t *gathered) {
    const double kappa = params.detection.kappa;
    value_sums removed = {}, mine = {};
    guess_noise(params, b, c);
    for (;;) {
        const value_sums left = value_sums_less(&c->all, &removed);
        const int lower = c->n_lower + (int)(left.n - 1) / 2, upper = c->n_lower + (int)left.n / 2;
        const rank_values middle = find_ranks(params, b, *c, lower, upper, gathered);
        c->median = (middle.lower + middle.upper) / 2;
        if (!value_sums_rms(&c->all, &left, &c->rms) && !are_equal(params, b, middle, left.n))
            return {NAN, -1};
        const uint32_t low = max(c->low, exact_key(exact_above(c->median - kappa * c->rms)));
        const uint32_t high = min(c->high, exact_key(exact_below(c->median + kappa * c->rms)));
        if (low > high)
            break;
        const int64_t before = removed.n;
        removed = remove_beyond(params, b, low, high, c, &mine);
        if (removed.n == before || removed.n == c->all.n)
            break;
    }
    return {c->median, c->rms};
}

/* Clips the boxes of all nodes. */
static __global__ void __launch_bounds__(THREADS)
    clip_boxes(const __grid_constant__ params params) {
    __shared__ uint32_t gathered[TEAMS][TEAM];
    wait_for_earlier();
    const uint32_t n = (uint32_t)(params.noise.n_x * params.noise.n_y);
    for (uint32_t node = blockIdx.x * TEAMS + threadIdx.x / TEAM; node < n;
         node += gridDim.x * TEAMS) {
        const box b = box_of(params, node);
        box_clip c = {sums_of_box(params, b), 0, 0, 0, KEY_LAST, 0};
        noise_at noise = {NAN, NAN};
        if (c.all.n > 0 && 4 * c.all.n >= b.area)
            noise = clip_box(params, b, &c, gathered[threadIdx.x / TEAM]);
        if (lane_of_team() == 0)
            params.nodes[node] = noise.rms == 0 ? noise_at{NAN, NAN} : noise;
    }
}

/* --- what a scan by nodes needs --- */

/* Sets the least value that can be above the noise, for the pixels of a column between two rows of
 * nodes; and the row of nodes at or before each y. */
static __global__ void __launch_bounds__(THREADS)
    set_bounds(const __grid_constant__ params params) {
    wait_for_earlier();
    const noise_map &map = params.noise;
    const int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = thread; i < map.n_y * params.width; i += step) {
        const int64_t node = noise_position(i % params.width, map.n_x, map.step).first;
        params.bounds[i] =
            noise_bounds_of(&map, 1, params.detection.island, node, i / params.width).least;
    }
    for (int64_t y = thread; y < params.height; y += step)
        params.node_of_y[y] = (int)noise_position(y, map.n_y, map.step).first;
}

/* --- launchers --- */

cudaError_t launch_cells(const struct params *params, cudaStream_t stream) {
    const int64_t n_cells = params->node_x.n_cells * params->node_y.n_cells;
    return launch_filling(sort_cells, THREADS, (n_cells + WARPS - 1) / WARPS, stream, *params);
}

cudaError_t launch_nodes(const struct params *params, cudaStream_t stream) {
    const int64_t n = params->noise.n_x * params->noise.n_y;
    return launch_filling(clip_boxes, THREADS, (n + TEAMS - 1) / TEAMS, stream, *params);
}

cudaError_t launch_bounds(const struct params *params, cudaStream_t stream) {
    const int64_t work = params->noise.n_y * params->width;
    return launch_filling(set_bounds, THREADS, work / THREADS + 1, stream, *params);
}
