/* Foresees what a clip will look at, from how many keys of its list there are in each part: one
 * warp goes through the rounds, as closely as parts are narrow. Parts near a median or a bound
 * are left in the list, and the others taken out. What is foreseen need not be right: a clip that
 * looks where nothing is left says so. */
#include <float.h>

#include "bins.cuh"

enum {
    THREADS = 1024,
    WARPS = THREADS / WARP,
    THREAD_PARTS = PARTS / THREADS,
    ROUNDS_FORESEEN = 64,
    BOUND_MARGIN = 512, /* a bound may be off by its distance from the median, divided by this */
    MEDIAN_MARGIN = 2,  /* parts by which a median may be off */
    SPANS = 32,         /* between two bounds, at most */
    WORTH_WHILE = 2,    /* a list is narrowed if no more than one of so many keys is left */
};

/* --- what the clip will look at --- */

/* What may be in a part. */
enum look : uint8_t { NOTHING, MEDIAN, BOUND };

/* Parts between two that may have a bound; where there is nothing to look for, from first to last.
 */
struct span {
    int n_keys; /* there */
    int first, last;
    int zone;     /* ZONES: none */
    int exponent; /* |v| < 2^exponent; 2^(exponent - 31) divides v if |v| >= 2^(exponent - 8) */
};

/* Sums are of the distance from the centre, about. */
struct parts_sums {
    double n, sum, square;
};

struct outlook {
    int64_t before[THREADS];              /* keys before each thread's parts */
    double sum[THREADS], square[THREADS]; /* over the same */
    uint8_t look[PARTS], use[PARTS];
    bool foreseen;
    span spans[SPANS];
    int64_t n_left;        /* keys */
    int64_t gap_end[GAPS]; /* keys before it */
    int n_gaps;
    int64_t warp_counts[WARPS];
    double warp_sums[WARPS];
};

static __device__ inline parts_sums operator+(const parts_sums &a, const parts_sums &b) {
    return {a.n + b.n, a.sum + b.sum, a.square + b.square};
}

static __device__ inline parts_sums operator-(const parts_sums &a, const parts_sums &b) {
    return {a.n - b.n, a.sum - b.sum, a.square - b.square};
}

/* A part's least value, about. */
static __device__ float low_of(const job &j, int part) {
    return part < PARTS ? j.part_low[part] : FLT_MAX;
}

static __device__ parts_sums sums_of_part(const job &j, float centre, int part) {
    const double n = j.part_size[part];
    const float low = low_of(j, part), high = low_of(j, part + 1);
    const double x = (high < FLT_MAX ? low / 2 + high / 2 : low) - centre;
    return {n, n * x, n * x * x};
}

/* By all threads of the block. */
static __device__ void sum_parts(const job &j, float centre, outlook *o) {
    parts_sums s = {0, 0, 0};
    for (int i = 0; i < THREAD_PARTS; i++)
        s = s + sums_of_part(j, centre, THREAD_PARTS * threadIdx.x + i);
    o->before[threadIdx.x] = block_sum_before((int64_t)s.n, o->warp_counts);
    o->sum[threadIdx.x] = block_sum_before(s.sum, o->warp_sums);
    o->square[threadIdx.x] = block_sum_before(s.square, o->warp_sums);
}

/* Over the parts before one, which may be PARTS. By a warp. */
static __device__ parts_sums sums_before(const job &j, const outlook &o, float centre, int part) {
    static_assert((int)THREAD_PARTS <= WARP, "a part a lane");
    const int thread = min(part / THREAD_PARTS, THREADS - 1);
    const int mine = thread * THREAD_PARTS + lane_of_thread();
    parts_sums s = {0, 0, 0};
    if (mine < part)
        s = sums_of_part(j, centre, mine);
    return {o.before[thread] + warp_sum(s.n), o.sum[thread] + warp_sum(s.sum),
            o.square[thread] + warp_sum(s.square)};
}

/* The part of the list's i-th key in the order of the values. By a warp. */
static __device__ int part_at(const job &j, const outlook &o, int64_t i) {
    const int thread = warp_thread_at(o.before, i), first = THREAD_PARTS * thread;
    const int64_t size =
        lane_of_thread() < THREAD_PARTS ? j.part_size[first + lane_of_thread()] : 0;
    const bool behind = o.before[thread] + warp_sum_before(size) + size > i;
    const unsigned lanes = __ballot_sync(ALL_LANES, behind && lane_of_thread() < THREAD_PARTS);
    return lanes ? first + __ffs((int)lanes) - 1 : PARTS - 1;
}

static __device__ double double_of(uint128 n) {
    return (double)(int64_t)(n >> 64) * 0x1p64 + (double)(uint64_t)n;
}

/* What the scan added up or only counted. */
static __device__ parts_sums sums_of_core(const job &j, float centre) {
    const scan_totals &t = j.state->totals;
    const double unit = ldexp(1.0, j.state->plan.exponent - 31);
    const double smaller = ldexp(unit, -SCAN_PLAN_SMALLER);
    const double n = (double)(j.width * j.height - (int64_t)(t.n_listed + t.n_blank));
    const double sum =
        double_of((uint128)t.core.sum) * unit + double_of((uint128)t.small.sum) * smaller;
    const double square =
        double_of(t.core.square) * unit * unit + double_of(t.small.square) * smaller * smaller;
    return {n, sum - n * centre, square - 2 * centre * sum + n * centre * centre};
}

/* By a warp. */
static __device__ void mark(outlook *o, int first, int last, look what) {
    __syncwarp();
    for (int i = max(first, 0) + lane_of_thread(); i <= min(last, PARTS - 1); i += WARP)
        o->look[i] = max(o->look[i], (uint8_t)what);
}

static __device__ int part_of_value(const job &j, double v) {
    return (int)part_of(j.bin_parts, j.state->bin_scale, exact_key((float)v));
}

/* The parts of a round's bounds. */
struct bound_parts {
    int low, high;
};

/* Finds them, at a distance from the median, and marks what is around them. By a warp, whose lanes
 * look for a part each: the first two a margin below the bounds, the next two at them, and two a
 * margin above, each for the lower bound and the upper one. */
static __device__ bound_parts mark_bounds(const job &j, outlook *o, double median,
                                          double distance) {
    const int side = lane_of_thread() % 2 == 0 ? -1 : 1, step = lane_of_thread() / 2 % 3 - 1;
    const int mine = part_of_value(j, median + side * distance + step * (distance / BOUND_MARGIN));
    for (int i = 0; i < 2; i++)
        mark(o, __shfl_sync(ALL_LANES, mine, i) - 1, __shfl_sync(ALL_LANES, mine, 4 + i) + 1,
             BOUND);
    return {__shfl_sync(ALL_LANES, mine, 2), __shfl_sync(ALL_LANES, mine, 3)};
}

/* How many keys there are in the parts before one. */
static __device__ int64_t count_before(const job &j, const outlook &o, int part) {
    return (int64_t)sums_before(j, o, 0, part).n;
}

/* Ranks as the clip has them before its first round. */
static __device__ listed_ranks find_ranks(const job &j, const outlook &o) {
    const scan_plan &plan = j.state->plan;
    listed_ranks r;
    start_ranks(j, &r);
    r.zero = count_before(j, o, part_of_value(j, 0));
    r.median_first = count_before(j, o, part_of_value(j, plan.median_low));
    r.median_last = count_before(j, o, part_of_value(j, plan.median_high) + 1);
    return r;
}

/* Whether there are values further out than all bins, of which nobody knows how far. */
static __device__ bool has_unknown(const job &j) {
    return j.part_size[part_of_value(j, -FLT_MAX)] + j.part_size[part_of_value(j, FLT_MAX)] > 0;
}

/* Goes through the rounds, and marks what they look at. False where they look for what the list
 * does not have. By a warp. */
static __device__ bool foresee_rounds(const job &j, float centre, outlook *o, listed_ranks *r) {
    const parts_sums core = sums_of_core(j, centre);
    int first = 0, last = PARTS - 1, middle = -1;
    for (int round = 0; round < ROUNDS_FORESEEN; round++) {
        const parts_sums before = sums_before(j, *o, centre, first);
        const parts_sums until = sums_before(j, *o, centre, last + 1);
        const parts_sums kept = core + (until - before);
        const double mean = kept.sum / kept.n;
        const double rms = sqrt(fmax(kept.square / kept.n - mean * mean, 0.0));
        int64_t i = r->zero;
        r->first = (int64_t)before.n;
        r->last = (int64_t)until.n;
        if (listed_locate(r, &j.state->plan, (int64_t)(kept.n / 2), &i) == LISTED_UNKNOWN)
            return false;
        const int part = part_at(j, *o, i);
        const double median = low_of(j, part), distance = j.detection.kappa * rms;
        mark(o, part - MEDIAN_MARGIN, part + MEDIAN_MARGIN, MEDIAN);
        const bound_parts bounds = mark_bounds(j, o, median, distance);
        const int low = max(first, bounds.low), high = min(last, bounds.high);
        if (low == first && high == last && part == middle)
            break;
        first = low;
        last = high;
        middle = part;
    }
    return true;
}

/* Marks where the clip looks at last, for the extremes of what is left, and before the first round:
 * the ends of the median bracket, which has a zone to itself, and 0. */
static __device__ void mark_ends(const job &j, const listed_ranks &r, outlook *o) {
    const scan_plan &plan = j.state->plan;
    const int least = part_at(j, *o, r.first), greatest = part_at(j, *o, max(r.last - 1, r.first));
    const int low = part_of_value(j, plan.median_low), high = part_of_value(j, plan.median_high);
    const int zero = part_of_value(j, 0);
    mark(o, least, least, MEDIAN);
    mark(o, greatest, greatest, MEDIAN);
    mark(o, zero, zero, MEDIAN);
    mark(o, low, low, BOUND);
    mark(o, high, high, BOUND);
}

/* --- what it will not look at --- */

/* Whether a part is the last of some that may have a bound. */
static __device__ bool ends_bound(const outlook &o, int part) {
    return o.look[part] == BOUND && (part + 1 == PARTS || o.look[part + 1] != BOUND);
}

/* The spans before a thread's first part. By all threads of the block. */
static __device__ int count_spans(outlook *o) {
    int64_t n = 0;
    for (int i = 0; i < THREAD_PARTS; i++)
        n += ends_bound(*o, THREAD_PARTS * (int)threadIdx.x + i);
    return (int)block_sum_before(n, o->warp_counts);
}

/* Calls f(part, span) for those of a thread's parts that are in one of the spans; the first
 * of the parts is in, or before, `span`. */
template <typename Function>
static __device__ void for_spans(const outlook &o, int span, const Function &f) {
    for (int i = 0; i < THREAD_PARTS; i++) {
        const int part = THREAD_PARTS * (int)threadIdx.x + i;
        if (o.look[part] != BOUND && span < SPANS)
            f(part, span);
        span += ends_bound(o, part);
    }
}

/* Adds what a thread has found, if anything, to a span. */
static __device__ void add_to_span(span *to, const span &found) {
    if (found.n_keys == 0)
        return;
    atomicAdd(&to->n_keys, found.n_keys);
    atomicMin(&to->first, found.first);
    atomicMax(&to->last, found.last);
}

/* Finds what there is in each span that the clip will not look at. By all threads. */
static __device__ void find_spans(const job &j, int before, outlook *o) {
    const span none = {0, PARTS, -1, ZONES, 0};
    span mine = none;
    int of = before;
    if (threadIdx.x < SPANS)
        o->spans[threadIdx.x] = none;
    __syncthreads();
    for_spans(*o, before, [&](int part, int i) {
        if (j.part_size[part] == 0 || o->look[part] != NOTHING)
            return;
        if (i != of) {
            add_to_span(&o->spans[of], mine);
            mine = none;
            of = i;
        }
        mine.n_keys += (int)j.part_size[part];
        mine.first = min(mine.first, part);
        mine.last = part;
    });
    add_to_span(&o->spans[of], mine);
    __syncthreads();
}

/* The exponent by which most of a span's values can be added up: that of the greatest, unless
 * the least, if they are far from 0, are too small for it. */
static __device__ int exponent_of(const job &j, const span &s) {
    const float low = low_of(j, s.first), high = low_of(j, s.last + 1);
    const int most = ilogbf(fmaxf(fabsf(low), fabsf(high))) + 1;
    const bool has_zero = low <= 0 && high >= 0;
    return has_zero ? most : min(most, ilogbf(fminf(fabsf(low), fabsf(high))) + 8);
}

/* Makes zones of the spans that have most keys; a thread for each. */
static __device__ void choose_zones(const job &j, outlook *o) {
    zone *const zones = j.state->narrowing.zones;
    if (threadIdx.x < ZONES)
        zones[threadIdx.x] = {};
    __syncthreads();
    if (threadIdx.x >= SPANS)
        return;
    span *const s = &o->spans[threadIdx.x];
    int place = 0;
    for (int i = 0; i < SPANS; i++) {
        const int other = o->spans[i].n_keys;
        place += other > s->n_keys || (other == s->n_keys && i < (int)threadIdx.x);
    }
    if (place >= ZONES || s->n_keys == 0)
        return;
    const int exponent = exponent_of(j, *s);
    if (!scan_plan_has_room(exponent))
        return;
    s->zone = place;
    s->exponent = exponent;
    zones[place] = {{0, 0}, exponent - 31 + EXACT_UNIT, s->first, ldexpf(1, 31 - exponent)};
}

/* Whether all of a part's values can be added up in the unit of an exponent. */
static __device__ bool is_divided(const job &j, int part, int exponent) {
    const float low = low_of(j, part), high = low_of(j, part + 1);
    return (low > 0) == (high > 0) && fmaxf(fabsf(low), fabsf(high)) < ldexpf(1, exponent) &&
           fminf(fabsf(low), fabsf(high)) >= ldexpf(1, exponent - 8);
}

/* Says what becomes of each part. By all threads of the block. */
static __device__ void use_parts(const job &j, int before, outlook *o) {
    for (int i = 0; i < THREAD_PARTS; i++)
        o->use[THREAD_PARTS * threadIdx.x + i] = LEFT;
    for_spans(*o, before, [&](int part, int i) {
        const span &s = o->spans[i];
        const bool out = o->look[part] == NOTHING && is_divided(j, part, s.exponent);
        if (s.zone < ZONES)
            o->use[part] = (uint8_t)(out ? s.zone : (int)LEFT_BETWEEN);
    });
    __syncthreads();
    for (int i = threadIdx.x; i < PARTS; i += THREADS)
        j.part_use[i] = o->use[i];
}

static __device__ bool is_taken_out(const outlook &o, int part) {
    return part >= 0 && part < PARTS && o.use[part] < LEFT;
}

/* Finds the gaps, and how many keys will be left. By all threads of the block. */
static __device__ void find_gaps(const job &j, outlook *o) {
    gap *const gaps = j.state->narrowing.gaps;
    const int first = THREAD_PARTS * (int)threadIdx.x;
    int64_t n_left = 0, n_gaps = 0, rank = o->before[threadIdx.x];
    for (int part = first; part < first + THREAD_PARTS; part++) {
        n_left += is_taken_out(*o, part) ? 0 : j.part_size[part];
        n_gaps += is_taken_out(*o, part) && !is_taken_out(*o, part - 1);
    }
    int64_t place = block_sum_before(n_left, o->warp_counts);
    int last = (int)block_sum_before(n_gaps, o->warp_counts) - 1; /* gap that has begun */
    for (int part = first; part < first + THREAD_PARTS; part++) {
        const bool out = is_taken_out(*o, part);
        last += out && !is_taken_out(*o, part - 1);
        if (last < GAPS && out && !is_taken_out(*o, part - 1))
            gaps[last] = {rank, place, 0, part};
        rank += j.part_size[part];
        place += out ? 0 : j.part_size[part];
        if (last < GAPS && out && !is_taken_out(*o, part + 1))
            o->gap_end[last] = rank;
    }
    if (threadIdx.x == THREADS - 1) {
        o->n_gaps = last + 1;
        o->n_left = place;
    }
    __syncthreads();
    if ((int)threadIdx.x < min(o->n_gaps, (int)GAPS))
        gaps[threadIdx.x].n = o->gap_end[threadIdx.x] - gaps[threadIdx.x].rank;
}

static __global__ void __launch_bounds__(THREADS) foresee(const __grid_constant__ job j) {
    __shared__ outlook o;
    for (int i = 0; i < THREAD_PARTS; i++)
        o.look[THREAD_PARTS * threadIdx.x + i] = NOTHING;
    wait_for_earlier();
    const int64_t n = count_keys(j);
    const float centre = j.state->bin_scale.centre;
    if (n == 0)
        return;
    sum_parts(j, centre, &o);
    __syncthreads();
    if (threadIdx.x < WARP) {
        listed_ranks ranks = find_ranks(j, o);
        const bool foreseen = !has_unknown(j) && foresee_rounds(j, centre, &o, &ranks);
        mark_ends(j, ranks, &o);
        o.foreseen = foreseen;
    }
    __syncthreads();
    if (!o.foreseen)
        return;
    const int before = count_spans(&o);
    find_spans(j, before, &o);
    choose_zones(j, &o);
    __syncthreads();
    use_parts(j, before, &o);
    find_gaps(j, &o);
    if (threadIdx.x > 0)
        return;
    j.state->narrowing.n = o.n_left;
    j.state->narrowing.n_written = 0;
    j.state->narrowing.n_gaps = o.n_gaps;
    j.state->narrowing.done = o.n_gaps <= GAPS && o.n_left * WORTH_WHILE < n;
}

cudaError_t launch_foresee(const struct job *job, cudaStream_t stream) {
    return launch_next(foresee, 1, THREADS, stream, *job);
}
