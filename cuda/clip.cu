/* The clip, from the sorted keys of the listed values.
 *
 * 1. sum_keys: a warp sums 128 keys, and notes where groups begin: the keys of one sign and
 *    exponent. CUB turns these sums to sums of all keys before every 128th key.
 * 2. clip, in one block of 256 threads: thread e sums the pixels of exponent e, as bin e of
 *    exact_sums.
 * 3. A round finds the ranks of the median (listed_ranks.h), the exact rms, and the bounds; two
 *    warps find the cuts at the bounds by search among the keys, and the sums between two cuts
 *    follow from the stored sums and at most 127 keys.
 * 4. Rounds end when no key is removed. Then min, max and the thresholds of the islands are set.
 *
 * Always: the same rules and the same bits as on the CPU. If a bound cuts inliers, or the median is
 * one, the clip is not known, and the host takes a slower way.
 *
 * Cost: the list is read once; a round is a few searches, whatever the length of the list. */
#include "backend/listed_ranks.h"
#include "device.cuh"

enum { THREADS = EXACT_EXPONENTS, WARPS = THREADS / WARP, TOPS = WARP * WARP };

/* --- sums over sorted keys --- */

static __device__ inline key_sums operator-(const key_sums &a, const key_sums &b) {
    return {a.m - b.m, a.square_low - b.square_low, a.square_high - b.square_high};
}

/* The sums of one key; zeros for padding. */
static __device__ inline key_sums sums_of_key(uint32_t key) {
    const uint64_t m = key <= KEY_LAST ? exact_mantissa(exact_bits(exact_unkey(key))) : 0;
    const uint64_t square = m * m;
    return {m, (uint32_t)square, square >> 32};
}

/* Sums of four keys per lane: each sum over the warp that is computed here fits in 32 bits. */
static __device__ inline key_sums warp_sum_keys(const key_sums &s) {
    static_assert(KEYS_A_SUM == 4 * WARP, "four keys per lane");
    const uint64_t lower = warp_sum((unsigned)(s.square_low & 0xffff));
    const uint64_t upper = warp_sum((unsigned)(s.square_low >> 16));
    return {warp_sum((unsigned)s.m), lower + (upper << 16), warp_sum((unsigned)s.square_high)};
}

static __device__ inline key_sums warp_sum_before(const key_sums &s) {
    return {warp_sum_before(s.m), warp_sum_before(s.square_low), warp_sum_before(s.square_high)};
}

/* Four consecutive keys, with padding behind the last key of the list. */
struct four_keys {
    uint32_t key[4];
};

static __device__ four_keys load_keys(const uint32_t *keys, int64_t index, int64_t n) {
    four_keys four;
    for (int i = 0; i < 4; i++)
        four.key[i] = index + i < n ? keys[index + i] : KEY_PADDING;
    return four;
}

/* Writes the groups of keys that begin among the lane's keys: the index of the first key, and the
 * sums from the warp's first key to there. `before` is the group of the key before the lane's;
 * `sum` are the sums of the lane's keys. */
static __device__ void write_groups(const four_keys &four, int64_t index, int before,
                                    const key_sums &sum, key_group *groups) {
    key_sums remainder = warp_sum_before(sum);
    for (int i = 0; i < 4; i++) {
        const int group = (int)(four.key[i] >> 23);
        for (int g = before + 1; g <= group; g++)
            groups[g] = {index + i, remainder};
        before = group;
        remainder = remainder + sums_of_key(four.key[i]);
    }
}

/* Writes the sums of the i-th KEYS_A_SUM keys, and the groups that begin among them. By a warp. */
static __device__ void sum_warp_keys(const uint32_t *keys, int64_t n, int64_t i, key_sums *sums,
                                     key_group *groups) {
    const int64_t index = i * KEYS_A_SUM + 4 * lane_of_thread();
    const four_keys four = load_keys(keys, index, n);
    const key_sums mine = sums_of_key(four.key[0]) + sums_of_key(four.key[1]) +
                          (sums_of_key(four.key[2]) + sums_of_key(four.key[3]));
    const key_sums sum = warp_sum_keys(mine);
    if (lane_of_thread() == 0)
        sums[i] = sum;
    int before = __shfl_up_sync(ALL_LANES, (int)(four.key[3] >> 23), 1);
    if (lane_of_thread() == 0)
        before = index > 0 ? (int)(keys[index - 1] >> 23) : -1;
    if (__any_sync(ALL_LANES, before < (int)(four.key[3] >> 23)))
        write_groups(four, index, before, mine, groups);
}

/* The number of listed keys; 0 if the list overflowed. */
static __device__ int64_t count_keys(const params &params) {
    const int64_t n = (int64_t)params.state->totals.n_listed;
    return params.state->scan_wanted && n <= params.list_capacity ? n : 0;
}

/* Clears the words with which the blocks of launch_islands publish their sums. By all threads of
 * the grid. */
static __device__ void clear_blocks(const params &params) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
         i < params.tile_words + params.run_words; i += (int64_t)gridDim.x * blockDim.x)
        params.tile_blocks[i] = 0;
}

/* Writes one sum per KEYS_A_SUM keys, the last one over the remaining keys, and the groups. Sums
 * behind the list's end, up to n_sums of them, become 0. */
static __global__ void __launch_bounds__(THREADS)
    sum_keys(const __grid_constant__ params params, const uint32_t *keys, int64_t n_sums) {
    const int64_t i = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    wait_for_earlier();
    clear_blocks(params);
    const int64_t n = count_keys(params);
    if (i <= n / KEYS_A_SUM)
        sum_warp_keys(keys, n, i, params.key_sums, params.key_groups);
    else if (i < n_sums && lane_of_thread() == 0)
        params.key_sums[i] = {0, 0, 0};
}

/* The sorted keys, the sums of the keys before each KEYS_A_SUM-th one, and the groups. tops, in
 * shared memory, holds every step-th key, the last one of each step; `step` is a multiple of
 * KEYS_A_SUM. */
struct sorted {
    const uint32_t *keys;
    int64_t n;
    const key_sums *sums;
    const key_group *groups;
    uint32_t *tops;
    int64_t step;
};

/* Fills s.tops; by all threads of the block. */
static __device__ void load_tops(const sorted &s) {
    for (int i = threadIdx.x; i < TOPS; i += THREADS) {
        const int64_t index = (i + 1) * s.step - 1;
        s.tops[i] = index < s.n ? s.keys[index] : KEY_PADDING;
    }
    __syncthreads();
}

/* The number of tops below a key; by a warp. */
static __device__ int warp_count_tops(const sorted &s, uint32_t key) {
    static_assert(TOPS == WARP * WARP, "a warp compares WARP tops, twice");
    const bool all_below = s.tops[WARP * lane_of_thread() + WARP - 1] < key;
    const int rows = __popc(__ballot_sync(ALL_LANES, all_below));
    if (rows == WARP)
        return TOPS;
    return WARP * rows +
           __popc(__ballot_sync(ALL_LANES, s.tops[WARP * rows + lane_of_thread()] < key));
}

/* The position of a key in the sorted list; the key itself need not be in the list. */
struct cut {
    int64_t index; /* the number of keys below it */
    key_sums sums; /* over the keys before `index` */
};

/* Returns i such that a key belongs among the i-th KEYS_A_SUM keys: the keys before these are below
 * it, and those behind them are not. By a warp, which compares 32 keys at a time. */
static __device__ int64_t find_sums_index(const sorted &s, uint32_t key) {
    const int64_t first = warp_count_tops(s, key) * s.step;
    int64_t index = first / KEYS_A_SUM;
    int64_t end = (min(first + s.step, s.n) + KEYS_A_SUM - 1) / KEYS_A_SUM;
    while (end - index > 1) {
        const int64_t step = (end - index + WARP - 1) / WARP;
        const int64_t at = index + (lane_of_thread() + 1) * step;
        const bool below = at < end && s.keys[at * KEYS_A_SUM] < key;
        const int n = __popc(__ballot_sync(ALL_LANES, below));
        end = min(index + (n + 1) * step, end);
        index += n * step;
    }
    return index;
}

/* The cut before a key; by a warp. */
static __device__ cut find_key_cut(const sorted &s, uint32_t key) {
    const int64_t sums_index = find_sums_index(s, key), first = sums_index * KEYS_A_SUM;
    const four_keys four = load_keys(s.keys, first + 4 * lane_of_thread(), s.n);
    const key_sums before = s.sums[sums_index];
    key_sums sum = {0, 0, 0};
    int n = 0;
    for (const uint32_t other : four.key) {
        const bool below = other < key;
        n += below;
        sum = sum + sums_of_key(below ? other : KEY_PADDING);
    }
    n = warp_sum(n);
    return {first + n, before + warp_sum_keys(sum)};
}

/* The cut before, or behind, the keys equal to a value's. By a warp. */
static __device__ cut find_value_cut(const sorted &s, float value, bool behind) {
    return find_key_cut(s, exact_key(value) + behind);
}

/* --- the pixels of one exponent --- */

/* The range [first, last) of the sorted keys of one sign and exponent, with the sums of the keys
 * before first and before last. */
struct key_range {
    int64_t first, last;
    key_sums sums_first, sums_last;
};

static __device__ key_sums sums_before_group(const sorted &s, const key_group &g) {
    return s.sums[g.first / KEYS_A_SUM] + g.remainder;
}

/* The range of the groups first to last - 1. */
static __device__ key_range find_group(const sorted &s, int first, int last) {
    const key_group from = s.groups[first], to = s.groups[last];
    key_range g = {from.first, to.first, {}, {}};
    if (g.first < g.last) {
        g.sums_first = sums_before_group(s, from);
        g.sums_last = sums_before_group(s, to);
    }
    return g;
}

/* The sums over the keys of a range that are between two cuts. */
static __device__ key_sums group_sums(const key_range &g, const cut &first, const cut &last) {
    const bool all_gone = g.first >= last.index || g.last <= first.index || g.first == g.last;
    if (all_gone)
        return {0, 0, 0};
    return (g.last <= last.index ? g.sums_last : last.sums) -
           (g.first >= first.index ? g.sums_first : first.sums);
}

/* A thread's bin of exact_sums: the inliers that belong to it, and the keys of its exponent. */
struct bin {
    key_range negative, positive;
    inlier_totals inliers;
};

/* Subnormals, whose exponent bits are 0, belong to exponent 1. */
static __device__ bin find_bin(const sorted &s, int exponent, const scan_plan &plan,
                               const scan_totals &totals) {
    bin b = {};
    if (exponent == 0 || exponent == EXACT_EXPONENTS - 1)
        return b;
    const int least = exponent == 1 ? 0 : exponent, zero = KEY_GROUPS / 2;
    b.positive = find_group(s, zero + least, zero + exponent + 1);
    b.negative = find_group(s, zero - exponent - 1, zero - least);
    const int unit = plan.exponent - 31 + EXACT_UNIT;
    if (exponent == unit)
        b.inliers = totals.inliers;
    if (exponent == unit - SCAN_PLAN_SMALLER)
        b.inliers = totals.small;
    return b;
}

/* The bin's sums over the inliers and the keys between two cuts. */
static __device__ void sum_bin(const bin &b, const cut &first, const cut &last, int128 *sum,
                               uint128 *square) {
    const key_sums minus = group_sums(b.negative, first, last);
    const key_sums plus = group_sums(b.positive, first, last);
    const key_sums both = minus + plus;
    *sum = b.inliers.sum + (int128)plus.m - (int128)minus.m;
    *square = b.inliers.square + both.square_low + ((uint128)both.square_high << 32);
}

/* --- rounds --- */

/* The state of the rounds, shared by all threads. Between two barriers no thread reads a member
 * that another one writes. */
struct clip_shared {
    listed_ranks ranks;
    cut first, last; /* the keys between them are kept so far */
    int64_t n;
    int rounds;
    bool ended;
    double median;
    bool median_known;
    float low, high;
    bool bounded; /* the bounds are known, and keep all inliers */
    cut cuts[2];  /* at low and high */
    int128 sum[WARPS];
    uint128 square[WARPS];
    int top;
    uint32_t tops[TOPS];
};

/* Adds all bins, in one unit; returns the sums in the first thread. */
static __device__ exact_aligned align_bins(clip_shared *s, int128 sum, uint128 square) {
    const int warp = threadIdx.x / WARP;
    exact_aligned all = {0, 0, 0};
    const int top = warp_max(square ? (int)threadIdx.x : 0);
    if (lane_of_thread() == 0)
        atomicMax(&s->top, top);
    __syncthreads();
    exact_aligned mine = {0, 0, s->top};
    if ((int)threadIdx.x <= mine.top)
        exact_align(&mine, threadIdx.x, sum, square);
    const uint128 warps_sum = warp_sum_128((uint128)mine.sum);
    const uint128 warps_square = warp_sum_128(mine.square);
    if (lane_of_thread() == 0) {
        s->sum[warp] = (int128)warps_sum;
        s->square[warp] = warps_square;
    }
    __syncthreads();
    all.top = s->top;
    for (int i = 0; threadIdx.x == 0 && i < WARPS; i++) {
        all.sum += s->sum[i];
        all.square += s->square[i];
    }
    return all;
}

/* Sets s->median, the mean of the two middle values. False if one of them is an inlier, whose value
 * is not in the list. By a warp. */
static __device__ bool select_median(const sorted &list, const scan_plan &plan, clip_shared *s) {
    int64_t i = 0, k = 0;
    const listed_kind lower = ranks_locate(&s->ranks, &plan, (s->n - 1) / 2, &i);
    const listed_kind upper = ranks_locate(&s->ranks, &plan, s->n / 2, &k);
    const float low = lower == LISTED_VALUE ? exact_unkey(list.keys[i]) : 0;
    const float high = upper == LISTED_VALUE ? exact_unkey(list.keys[k]) : 0;
    s->median = ((double)low + (double)high) / 2;
    return lower != LISTED_UNKNOWN && upper != LISTED_UNKNOWN;
}

/* Computes the rms, and from it and the median the next bounds. By the first thread. */
static __device__ void find_bounds(clip_shared *s, const scan_plan &plan, double kappa,
                                   const exact_aligned &aligned, clip_outcome *o) {
    s->bounded = s->median_known && s->rounds < ROUNDS_MOST;
    if (!s->bounded)
        return;
    const double median = s->median;
    double rms;
    if (!exact_rms_quickly(&aligned, s->n, &rms))
        rms = exact_rms_slowly(&o->sums, s->n);
    const float low = exact_above(median - kappa * rms), high = exact_below(median + kappa * rms);
    s->low = low;
    s->high = high;
    s->bounded = ranks_keep_inliers(&s->ranks, &plan, low, high);
    o->n_kept = s->n;
    o->median = median;
    o->rms = rms;
}

/* Finds the cuts at the bounds; by two warps. */
static __device__ void find_cuts(const sorted &list, clip_shared *s) {
    const int warp = threadIdx.x / WARP;
    if (warp >= 2)
        return;
    const cut c = find_value_cut(list, warp == 0 ? s->low : s->high, warp == 1);
    if (lane_of_thread() == 0)
        s->cuts[warp] = c;
}

/* The cut at an index: of a bound, or of an end of the kept keys. */
static __device__ cut cut_at(const clip_shared *s, int64_t index) {
    return index == s->cuts[0].index   ? s->cuts[0]
           : index == s->cuts[1].index ? s->cuts[1]
           : index == s->first.index   ? s->first
                                       : s->last;
}

/* Removes the keys outside the bounds; by the first thread. */
static __device__ void clip_trim(clip_shared *s) {
    const int64_t n = ranks_keep(&s->ranks, s->cuts[0].index, s->cuts[1].index, s->low, s->high);
    const cut first = cut_at(s, s->ranks.first), last = cut_at(s, s->ranks.last);
    s->first = first;
    s->last = last;
    s->ended = n == 0 || n == s->n;
    s->n = n;
    s->rounds++;
    s->top = 0;
}

/* Sets the state before the first round; by the first warp. */
static __device__ void start_rounds(const sorted &list, clip_shared *s) {
    const cut end = find_key_cut(list, KEY_PADDING);
    if (lane_of_thread() > 0)
        return;
    s->first = {0, {0, 0, 0}};
    s->last = {s->ranks.last, end.sums};
    s->n = s->ranks.last + s->ranks.n_zero + s->ranks.n_inliers;
    s->rounds = 0;
    s->bounded = true;
    s->ended = s->n == 0;
    s->top = 0;
}

/* Clips. s->ranks must be set. o->sums become those of the last round. By all threads of the
 * block. */
static __device__ void clip_list(const params &params, const sorted &list, const scan_plan &plan,
                                 const scan_totals &totals, clip_shared *s, clip_outcome *o) {
    const bin b = find_bin(list, threadIdx.x, plan, totals);
    if (threadIdx.x < WARP)
        start_rounds(list, s);
    __syncthreads();
    while (!s->ended) {
        int128 sum;
        uint128 square;
        if (threadIdx.x / WARP == WARPS - 1)
            s->median_known = select_median(list, plan, s);
        sum_bin(b, s->first, s->last, &sum, &square);
        o->sums.sum[threadIdx.x] = sum;
        o->sums.square[threadIdx.x] = square;
        const exact_aligned aligned = align_bins(s, sum, square);
        if (threadIdx.x == 0)
            find_bounds(s, plan, params.detection.kappa, aligned, o);
        __syncthreads();
        if (!s->bounded)
            break;
        find_cuts(list, s);
        __syncthreads();
        if (threadIdx.x == 0)
            clip_trim(s);
        __syncthreads();
    }
}

/* Sets the members of the ranks that need no search in the list: all keys are kept. */
static __device__ void start_ranks(const params &params, listed_ranks *r) {
    const scan_totals &t = params.state->totals;
    r->first = 0;
    r->last = (int64_t)t.n_listed;
    r->n_zero = (int64_t)t.n_zero;
    r->n_inliers = params.width * params.height - r->last - (int64_t)(t.n_zero + t.n_blank);
    r->n_below = (int64_t)t.n_below;
}

/* Sets s->ranks; by all threads of the block. */
static __device__ void find_ranks(const params &params, const sorted &list, const scan_plan &plan,
                                  clip_shared *s) {
    listed_ranks *const r = &s->ranks;
    const float values[] = {0, plan.median_low, plan.median_high};
    int64_t *const ranks[] = {&r->zero, &r->median_first, &r->median_last};
    const int warp = threadIdx.x / WARP;
    if (warp < 3) {
        const cut c = find_value_cut(list, values[warp], warp == 2);
        if (lane_of_thread() == 0)
            *ranks[warp] = c.index;
    }
    if (threadIdx.x == 0)
        start_ranks(params, r);
    __syncthreads();
}

/* --- the kernel --- */

static __device__ bool find_extremes(const sorted &list, const scan_plan &plan,
                                     const listed_ranks &r, clip_outcome *o) {
    const bool any = r.first < r.last;
    const float low = any ? exact_unkey(list.keys[r.first]) : 0;
    const float high = any ? exact_unkey(list.keys[r.last - 1]) : 0;
    return ranks_extremes(&r, &plan, low, high, &o->min, &o->max);
}

static __device__ sorted list_of(const params &params, const uint32_t *keys, clip_shared *s) {
    const int64_t n = count_keys(params), step = (n / TOPS / KEYS_A_SUM + 1) * KEYS_A_SUM;
    return {keys, n, params.key_sums, params.key_groups, s->tops, step};
}

static __global__ void __launch_bounds__(THREADS)
    clip(const __grid_constant__ params params, const uint32_t *keys) {
    __shared__ clip_shared s;
    wait_for_earlier();
    state *st = params.state;
    clip_outcome *o = &st->clip;
    const scan_plan plan = st->plan;
    const scan_totals totals = st->totals;
    const sorted list = list_of(params, keys, &s);
    const bool complete = st->scan_wanted && (int64_t)totals.n_listed <= params.list_capacity;
    __syncthreads(); /* all threads have read the state */
    if (threadIdx.x == 0) {
        o->known = false;
        o->n_kept = 0;
        st->thresholds.island = st->thresholds.detection = INFINITY;
    }
    if (!complete)
        return;
    load_tops(list);
    find_ranks(params, list, plan, &s);
    clip_list(params, list, plan, totals, &s, o);
    if (threadIdx.x >= WARP)
        return;
    const bool known = s.bounded && (o->n_kept == 0 || find_extremes(list, plan, s.ranks, o));
    if (threadIdx.x > 0)
        return;
    o->rounds = s.rounds;
    o->empty = s.rounds > 0 && s.n == 0;
    o->known = known;
    if (o->known && o->n_kept > 0) {
        const noise_map noise = noise_of_clip(o->median, o->rms, &params.detection);
        st->thresholds = thresholds_of(&noise, o->empty, &params.detection);
    }
}

/* --- launchers --- */

static cudaError_t launch_key_sums(const struct params *params, const uint32_t *keys, int64_t n,
                                   cudaStream_t stream) {
    const int64_t n_sums = n / KEYS_A_SUM + 1;
    size_t size = params->temporary_size;
    const cudaError_t status = launch_next(sum_keys, (unsigned)((n_sums + WARPS - 1) / WARPS),
                                           THREADS, stream, *params, keys, n_sums);
    return status ? status
                  : cub_sum_keys(params->temporary, &size, params->key_sums, n_sums, stream);
}

cudaError_t launch_clip(const struct params *params, const uint32_t *keys, int64_t n_keys,
                        cudaStream_t stream) {
    const cudaError_t status = launch_key_sums(params, keys, n_keys, stream);
    return status ? status : launch_next(clip, 1, THREADS, stream, *params, keys);
}

static __global__ void __launch_bounds__(THREADS)
    set_thresholds(const __grid_constant__ params params, thresholds t) {
    clear_blocks(params);
    if (threadIdx.x == 0)
        params.state->thresholds = t;
}

cudaError_t launch_thresholds(const struct params *params, const struct thresholds *thresholds,
                              cudaStream_t stream) {
    set_thresholds<<<1, THREADS, 0, stream>>>(*params, *thresholds);
    return cudaGetLastError();
}
