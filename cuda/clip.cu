/* The clip, on the device, by the sorted keys of the listed values. A block of one thread for each
 * exponent goes through the rounds, by the same rules as the CPU (listed_ranks.h). */
#include "bins.cuh"

enum { THREADS = EXACT_EXPONENTS, WARPS = THREADS / WARP, TOPS = WARP * WARP };

/* --- sums over sorted keys --- */

static __device__ inline key_sums operator-(const key_sums &a, const key_sums &b) {
    return {a.m - b.m, a.square_low - b.square_low, a.square_high - b.square_high};
}

/* Of one key; nothing of what pads a list. */
static __device__ inline key_sums sums_of_key(uint32_t key) {
    const uint64_t m = key <= KEY_LAST ? exact_mantissa(exact_bits(exact_unkey(key))) : 0;
    const uint64_t square = m * m;
    return {m, (uint32_t)square, square >> 32};
}

/* Of four keys a lane: each of the parts that are added up here fits in 32 bits. */
static __device__ inline key_sums warp_sum_keys(const key_sums &s) {
    static_assert(KEYS_A_SUM == 4 * WARP, "four keys a lane");
    const uint64_t lower = warp_sum((unsigned)(s.square_low & 0xffff));
    const uint64_t upper = warp_sum((unsigned)(s.square_low >> 16));
    return {warp_sum((unsigned)s.m), lower + (upper << 16), warp_sum((unsigned)s.square_high)};
}

static __device__ inline key_sums warp_sum_before(const key_sums &s) {
    return {warp_sum_before(s.m), warp_sum_before(s.square_low), warp_sum_before(s.square_high)};
}

/* Four keys at a time; what pads a list where there are fewer. */
struct four_keys {
    uint32_t key[4];
};

static __device__ four_keys load_keys(const uint32_t *keys, int64_t place, int64_t n) {
    four_keys four;
    for (int i = 0; i < 4; i++)
        four.key[i] = place + i < n ? keys[place + i] : KEY_PADDING;
    return four;
}

/* Notes where the groups of keys begin, for the places of a warp, and the sums since the warp's
 * first; `before` is the key before the lane's. */
static __device__ void write_groups(const four_keys &four, int64_t place, int before,
                                    const key_sums &sum, key_group *groups) {
    key_sums rest = warp_sum_before(sum);
    for (int i = 0; i < 4; i++) {
        const int group = (int)(four.key[i] >> 23);
        for (int g = before + 1; g <= group; g++)
            groups[g] = {place + i, rest};
        before = group;
        rest = rest + sums_of_key(four.key[i]);
    }
}

/* The sum of the i-th KEYS_A_SUM keys, by a warp; and which groups begin there. */
static __device__ void sum_some_keys(const uint32_t *keys, int64_t n, int64_t i, key_sums *sums,
                                     key_group *groups) {
    const int64_t place = i * KEYS_A_SUM + 4 * lane_of_thread();
    const four_keys four = load_keys(keys, place, n);
    const key_sums mine = sums_of_key(four.key[0]) + sums_of_key(four.key[1]) +
                          (sums_of_key(four.key[2]) + sums_of_key(four.key[3]));
    const key_sums sum = warp_sum_keys(mine);
    if (lane_of_thread() == 0)
        sums[i] = sum;
    int before = __shfl_up_sync(ALL_LANES, (int)(four.key[3] >> 23), 1);
    if (lane_of_thread() == 0)
        before = place > 0 ? (int)(keys[place - 1] >> 23) : -1;
    if (__any_sync(ALL_LANES, before < (int)(four.key[3] >> 23)))
        write_groups(four, place, before, mine, groups);
}

/* How many keys there are, in order. */
static __device__ int64_t count_sorted(const job &j) {
    return j.state->narrowing.done ? j.state->narrowing.n : count_keys(j);
}

/* Begins the words anew by which the blocks that look for islands tell each other their sums; by
 * all threads. */
static __device__ void clear_blocks(const job &j) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < j.tile_words + j.run_words;
         i += (int64_t)gridDim.x * blockDim.x)
        j.tile_blocks[i] = 0;
}

/* All sums, one more than there are whole ones, so that there is one for each place; and where the
 * groups of keys begin. Where there are fewer keys than n_sums are for, the other sums are 0. */
static __global__ void __launch_bounds__(THREADS)
    sum_keys(const __grid_constant__ job j, const uint32_t *keys, int64_t n_sums) {
    const int64_t i = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    wait_for_earlier();
    clear_blocks(j);
    const int64_t n = count_sorted(j);
    if (i <= n / KEYS_A_SUM)
        sum_some_keys(keys, n, i, j.key_sums, j.key_groups);
    else if (i < n_sums && lane_of_thread() == 0)
        j.key_sums[i] = {0, 0, 0};
}

/* How a list was narrowed, at hand. */
struct narrowed_list {
    narrowing how;
    bin_parts parts[BINS];
    uint8_t use[PARTS];
};

/* Sorted keys, the sums of those before each KEYS_A_SUM-th, and the groups. Every step-th key, the
 * last of those steps, is at hand in shared memory; `step` is a multiple of KEYS_A_SUM. Keys are
 * known by their places here, or by their ranks in the list, which differ where it was narrowed. */
struct sorted {
    const uint32_t *keys;
    int64_t n;
    const key_sums *sums;
    const key_group *groups;
    uint32_t *tops;
    int64_t step;
    const narrowed_list *narrowed; /* NULL: it was not */
};

/* By all threads of the block. */
static __device__ void load_tops(const sorted &s) {
    for (int i = threadIdx.x; i < TOPS; i += THREADS) {
        const int64_t place = (i + 1) * s.step - 1;
        s.tops[i] = place < s.n ? s.keys[place] : KEY_PADDING;
    }
    __syncthreads();
}

/* How many of the TOPS keys are below one; by a warp. */
static __device__ int warp_count_tops(const sorted &s, uint32_t key) {
    static_assert(TOPS == WARP * WARP, "two looks by a warp");
    const bool all_below = s.tops[WARP * lane_of_thread() + WARP - 1] < key;
    const int rows = __popc(__ballot_sync(ALL_LANES, all_below));
    if (rows == WARP)
        return TOPS;
    return WARP * rows +
           __popc(__ballot_sync(ALL_LANES, s.tops[WARP * rows + lane_of_thread()] < key));
}

/* Where a key that need not be in the list stands in its order. */
struct cut {
    int64_t rank, place; /* keys below it, of the whole list and of the narrowed one */
    int part;            /* of the key, in a narrowed list */
    key_sums sums;       /* of the keys before the place */
};

/* Of the KEYS_A_SUM keys at a time that begin at or behind a step's first, those that have the
 * place of a key: all before them are below it, and none behind them. By a warp, 32 at a time. */
static __device__ int64_t find_block(const sorted &s, uint32_t key) {
    const int64_t first = warp_count_tops(s, key) * s.step;
    int64_t block = first / KEYS_A_SUM;
    int64_t end = (min(first + s.step, s.n) + KEYS_A_SUM - 1) / KEYS_A_SUM;
    while (end - block > 1) {
        const int64_t step = (end - block + WARP - 1) / WARP;
        const int64_t at = block + (lane_of_thread() + 1) * step;
        const bool below = at < end && s.keys[at * KEYS_A_SUM] < key;
        const int n = __popc(__ballot_sync(ALL_LANES, below));
        end = min(block + (n + 1) * step, end);
        block += n * step;
    }
    return block;
}

/* The place of a key, and the sums before it; by a warp. */
static __device__ cut find_place(const sorted &s, uint32_t key) {
    const int64_t block = find_block(s, key), first = block * KEYS_A_SUM;
    const four_keys four = load_keys(s.keys, first + 4 * lane_of_thread(), s.n);
    const key_sums before = s.sums[block];
    key_sums sum = {0, 0, 0};
    int n = 0;
    for (const uint32_t other : four.key) {
        const bool below = other < key;
        n += below;
        sum = sum + sums_of_key(below ? other : KEY_PADDING);
    }
    n = warp_sum(n);
    return {first + n, first + n, 0, before + warp_sum_keys(sum)};
}

/* --- what was taken out of a narrowed list --- */

/* The number of the last gap for which is_before(gap), or -1; it is so for no gap behind one for
 * which it is not. By a warp. */
template <typename Predicate>
static __device__ int warp_last_gap(const narrowing &n, const Predicate &is_before) {
    static_assert((int)GAPS % WARP == 0, "whole warps");
    int gaps = 0;
    for (int i = lane_of_thread(); i < GAPS; i += WARP)
        gaps += __popc(__ballot_sync(ALL_LANES, i < n.n_gaps && is_before(n.gaps[i])));
    return gaps - 1;
}

/* How many keys were taken out up to the end of a gap. */
static __device__ int64_t taken_out(const gap &g) {
    return g.rank + g.n - g.place;
}

/* Finds where a value stands, before or behind the keys that are equal. Sets *in_gap unless its
 * part was left, and the sums of all zones are of one side if it is a bound. By a warp. */
static __device__ cut find_cut(const job &j, const sorted &s, float value, bool behind,
                               bool is_bound, bool *in_gap) {
    const uint32_t key = exact_key(value);
    cut c = find_place(s, key + behind);
    if (!s.narrowed)
        return c;
    const narrowing &how = s.narrowed->how;
    c.part = (int)part_of(s.narrowed->parts, j.state->bin_scale, key);
    const int last = warp_last_gap(how, [&](const gap &g) { return g.part < c.part; });
    const int use = s.narrowed->use[c.part];
    if (last >= 0)
        c.rank += taken_out(how.gaps[last]);
    if (use != LEFT && (is_bound || use != LEFT_BETWEEN))
        *in_gap = true;
    return c;
}

/* The key of some rank, if it is there. By a warp. */
static __device__ bool find_key(const sorted &s, int64_t rank, uint32_t *key) {
    int64_t place = rank;
    if (s.narrowed) {
        const narrowing &how = s.narrowed->how;
        const int last = warp_last_gap(how, [&](const gap &g) { return g.rank <= rank; });
        if (last >= 0 && rank < how.gaps[last].rank + how.gaps[last].n)
            return false;
        place -= last >= 0 ? taken_out(how.gaps[last]) : 0;
    }
    *key = s.keys[place];
    return true;
}

/* --- the pixels of one exponent --- */

/* [first, last) of the sorted keys, with the sums before both: those of one sign and exponent. */
struct stretch {
    int64_t first, last;
    key_sums sums_first, sums_last;
};

static __device__ key_sums sums_before_group(const sorted &s, const key_group &g) {
    return s.sums[g.first / KEYS_A_SUM] + g.rest;
}

/* Groups first to last - 1 in one. */
static __device__ stretch find_group(const sorted &s, int first, int last) {
    const key_group from = s.groups[first], to = s.groups[last];
    stretch g = {from.first, to.first, {}, {}};
    if (g.first < g.last) {
        g.sums_first = sums_before_group(s, from);
        g.sums_last = sums_before_group(s, to);
    }
    return g;
}

/* The sums of what is left of a group. */
static __device__ key_sums group_sums(const stretch &g, const cut &first, const cut &last) {
    const bool all_gone = g.first >= last.place || g.last <= first.place || g.first == g.last;
    if (all_gone)
        return {0, 0, 0};
    return (g.last <= last.place ? g.sums_last : last.sums) -
           (g.first >= first.place ? g.sums_first : first.sums);
}

/* A thread's bin of exact_sums: the core's share, and the keys of its exponent. */
struct bin {
    stretch negative, positive;
    core_totals core;
    unsigned zones; /* a bit for each that is added up in this bin's unit */
};

/* Exponent 1 also has the subnormals of 0. */
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
        b.core = totals.core;
    if (exponent == unit - SCAN_PLAN_SMALLER)
        b.core = totals.small;
    for (int i = 0; s.narrowed && i < ZONES; i++)
        b.zones |= (unsigned)(s.narrowed->how.zones[i].exponent == exponent) << i;
    return b;
}

/* The bin's sums over what is left between two cuts. */
static __device__ void sum_bin(const sorted &s, const bin &b, const cut &first, const cut &last,
                               int128 *sum, uint128 *square) {
    const key_sums minus = group_sums(b.negative, first, last);
    const key_sums plus = group_sums(b.positive, first, last);
    const key_sums both = minus + plus;
    *sum = b.core.sum + (int128)plus.m - (int128)minus.m;
    *square = b.core.square + both.square_low + ((uint128)both.square_high << 32);
    for (unsigned rest = b.zones; rest; rest &= rest - 1) {
        const zone &z = s.narrowed->how.zones[__ffs((int)rest) - 1];
        if (first.part < z.part && z.part < last.part) {
            *sum += z.sums.sum;
            *square += z.sums.square;
        }
    }
}

/* --- rounds --- */

/* What the threads tell each other in a round: between two barriers, nobody reads what another one
 * writes there. */
struct clip_shared {
    listed_ranks ranks;
    cut first, last; /* between them is what is left */
    int64_t n;
    int rounds;
    bool ended;
    double median;
    bool median_known;
    float low, high;
    bool bounded; /* the bounds are known, and take nothing of the core away */
    cut cuts[2];  /* at low and high */
    bool in_gap;  /* something was looked for where keys were taken out */
    int128 sum[WARPS];
    uint128 square[WARPS];
    int top;
    uint32_t tops[TOPS];
    narrowed_list narrowed;
};

/* All bins in one unit, in the first thread. */
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

/* The median's two values; by a warp. */
static __device__ bool select_median(const sorted &list, const scan_plan &plan, clip_shared *s) {
    int64_t i = 0, k = 0;
    const listed_place lower = listed_locate(&s->ranks, &plan, (s->n - 1) / 2, &i);
    const listed_place upper = listed_locate(&s->ranks, &plan, s->n / 2, &k);
    uint32_t low = exact_key(0), high = low;
    const bool found = (lower != LISTED_VALUE || find_key(list, i, &low)) &
                       (upper != LISTED_VALUE || find_key(list, k, &high));
    s->median = ((double)exact_unkey(low) + (double)exact_unkey(high)) / 2;
    if (!found)
        s->in_gap = true;
    return found && lower != LISTED_UNKNOWN && upper != LISTED_UNKNOWN;
}

/* The first thread's part of a round: rms, and the bounds that follow from it and the median. */
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
    s->bounded = listed_keeps_core(&s->ranks, &plan, low, high);
    o->n_kept = s->n;
    o->median = median;
    o->rms = rms;
}

/* Finds the places of the bounds; by two warps. */
static __device__ void find_cuts(const job &j, const sorted &list, clip_shared *s) {
    const int warp = threadIdx.x / WARP;
    if (warp >= 2)
        return;
    const cut c = find_cut(j, list, warp == 0 ? s->low : s->high, warp == 1, true, &s->in_gap);
    if (lane_of_thread() == 0)
        s->cuts[warp] = c;
}

/* The cut at a rank that is that of a bound, or an end of what was left. */
static __device__ cut cut_at(const clip_shared *s, int64_t rank) {
    return rank == s->cuts[0].rank   ? s->cuts[0]
           : rank == s->cuts[1].rank ? s->cuts[1]
           : rank == s->first.rank   ? s->first
                                     : s->last;
}

/* Cuts the ends off; by the first thread. */
static __device__ void trim(clip_shared *s) {
    const int64_t n = listed_keep(&s->ranks, s->cuts[0].rank, s->cuts[1].rank, s->low, s->high);
    const cut first = cut_at(s, s->ranks.first), last = cut_at(s, s->ranks.last);
    s->first = first;
    s->last = last;
    s->ended = n == 0 || n == s->n;
    s->n = n;
    s->rounds++;
    s->top = 0;
}

/* Before the first round; by the first warp. */
static __device__ void start_rounds(const sorted &list, clip_shared *s) {
    const cut end = find_place(list, KEY_PADDING);
    if (lane_of_thread() > 0)
        return;
    s->first = {0, 0, -1, {0, 0, 0}};
    s->last = {s->ranks.last, end.place, PARTS, end.sums};
    s->n = s->ranks.last + s->ranks.n_zero + s->ranks.n_core;
    s->rounds = 0;
    s->bounded = true;
    s->ended = s->n == 0;
    s->top = 0;
}

/* Clips; all threads of the block take part. The ranks in `s` are set. The outcome's sums are those
 * of the last round. */
static __device__ void clip_list(const job &j, const sorted &list, const scan_plan &plan,
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
        sum_bin(list, b, s->first, s->last, &sum, &square);
        o->sums.sum[threadIdx.x] = sum;
        o->sums.square[threadIdx.x] = square;
        const exact_aligned aligned = align_bins(s, sum, square);
        if (threadIdx.x == 0)
            find_bounds(s, plan, j.detection.kappa, aligned, o);
        __syncthreads();
        if (!s->bounded)
            break;
        find_cuts(j, list, s);
        __syncthreads();
        if (threadIdx.x == 0)
            trim(s);
        __syncthreads();
    }
}

/* Copies what is some words long. By all threads of the block. */
template <typename T> static __device__ void copy_words(const void *from, T *to) {
    static_assert(sizeof *to % sizeof(uint32_t) == 0, "whole words");
    for (int i = threadIdx.x; i < (int)(sizeof *to / sizeof(uint32_t)); i += THREADS)
        reinterpret_cast<uint32_t *>(to)[i] = static_cast<const uint32_t *>(from)[i];
}

/* By all threads of the block. */
static __device__ void load_narrowed(const job &j, narrowed_list *to) {
    copy_words(&j.state->narrowing, &to->how);
    copy_words(j.bin_parts, &to->parts);
    copy_words(j.part_use, &to->use);
    __syncthreads();
}

/* All threads of the block take part. */
static __device__ void find_ranks(const job &j, const sorted &list, const scan_plan &plan,
                                  clip_shared *s) {
    listed_ranks *const r = &s->ranks;
    const float values[] = {0, plan.median_low, plan.median_high};
    int64_t *const ranks[] = {&r->zero, &r->median_first, &r->median_last};
    const int warp = threadIdx.x / WARP;
    if (warp < 3) {
        const cut c = find_cut(j, list, values[warp], warp == 2, false, &s->in_gap);
        if (lane_of_thread() == 0)
            *ranks[warp] = c.rank;
    }
    if (threadIdx.x == 0)
        start_ranks(j, r);
    __syncthreads();
}

/* --- the list --- */

static __device__ bool find_extremes(const sorted &list, const scan_plan &plan, clip_shared *s,
                                     clip_outcome *o) {
    const listed_ranks &r = s->ranks;
    const bool any = r.first < r.last;
    uint32_t low = exact_key(0), high = low;
    if (any && !(find_key(list, r.first, &low) & find_key(list, r.last - 1, &high)))
        s->in_gap = true;
    return !s->in_gap &&
           listed_extremes_of(&r, &plan, exact_unkey(low), exact_unkey(high), &o->min, &o->max);
}

static __device__ sorted list_of(const job &j, const uint32_t *keys, clip_shared *s) {
    const int64_t n = count_sorted(j), step = (n / TOPS / KEYS_A_SUM + 1) * KEYS_A_SUM;
    const narrowed_list *narrowed = j.state->narrowing.done ? &s->narrowed : NULL;
    return {keys, n, j.key_sums, j.key_groups, s->tops, step, narrowed};
}

static __global__ void __launch_bounds__(THREADS)
    clip(const __grid_constant__ job j, const uint32_t *keys) {
    __shared__ clip_shared s;
    wait_for_earlier();
    state *st = j.state;
    clip_outcome *o = &st->clip;
    const scan_plan plan = st->plan;
    const scan_totals totals = st->totals;
    const sorted list = list_of(j, keys, &s);
    const bool foreseen = !list.narrowed || st->narrowing.n_written == st->narrowing.n;
    const bool complete = st->scan_wanted && (int64_t)totals.n_listed <= j.list_room &&
                          !st->list_unsorted && foreseen;
    __syncthreads(); /* all have read the state */
    if (threadIdx.x == 0) {
        s.in_gap = false;
        st->list_unsorted |= !foreseen;
        o->known = false;
        o->n_kept = 0;
        st->thresholds.island = st->thresholds.detection = INFINITY;
    }
    if (!complete)
        return;
    load_tops(list);
    if (list.narrowed)
        load_narrowed(j, &s.narrowed);
    find_ranks(j, list, plan, &s);
    clip_list(j, list, plan, totals, &s, o);
    if (threadIdx.x >= WARP)
        return;
    const bool known = s.bounded && (o->n_kept == 0 || find_extremes(list, plan, &s, o));
    if (threadIdx.x > 0)
        return;
    o->rounds = s.rounds;
    o->empty = s.rounds > 0 && s.n == 0;
    o->known = known && !s.in_gap;
    if (s.in_gap)
        st->list_unsorted = true;
    if (o->known && o->n_kept > 0)
        st->thresholds = thresholds_of(o->median, o->rms, o->empty, &j.detection);
}

/* --- putting it to work --- */

static cudaError_t sum_up(const struct job *job, const uint32_t *keys, int64_t n,
                          cudaStream_t stream) {
    const int64_t n_sums = n / KEYS_A_SUM + 1;
    size_t size = job->temporary_size;
    const cudaError_t status = launch_next(sum_keys, (unsigned)((n_sums + WARPS - 1) / WARPS),
                                           THREADS, stream, *job, keys, n_sums);
    return status ? status : cub_sum_keys(job->temporary, &size, job->key_sums, n_sums, stream);
}

cudaError_t launch_clip(const struct job *job, const uint32_t *keys, int64_t n_keys,
                        cudaStream_t stream) {
    const cudaError_t status = sum_up(job, keys, n_keys, stream);
    return status ? status : launch_next(clip, 1, THREADS, stream, *job, keys);
}

static __global__ void __launch_bounds__(THREADS)
    set_thresholds(const __grid_constant__ job j, thresholds t) {
    clear_blocks(j);
    if (threadIdx.x == 0)
        j.state->thresholds = t;
}

cudaError_t launch_thresholds(const struct job *job, const struct thresholds *thresholds,
                              cudaStream_t stream) {
    set_thresholds<<<1, THREADS, 0, stream>>>(*job, *thresholds);
    return cudaGetLastError();
}
