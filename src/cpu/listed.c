#include "cpu/listed.h"

#include <stdlib.h>

#include "cpu/grow.h"

enum { DIGIT = 11, DIGITS = 3, BUCKETS = 1 << DIGIT };

/* Where the keys of each digit's value begin in the sorted array. */
static void find_starts(const uint32_t *keys, int64_t n, int64_t (*start)[BUCKETS]) {
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < DIGITS; d++)
            start[d][keys[i] >> d * DIGIT & (BUCKETS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        int64_t sum = 0;
        for (int b = 0; b < BUCKETS; b++) {
            const int64_t count = start[d][b];
            start[d][b] = sum;
            sum += count;
        }
    }
}

/* Sorts n floats that are not NaN: an LSD radix sort of their order-preserving keys, which take the
 * floats' own place. The sorted values may be in another block. False where memory ran out. */
static bool sort_values(float **values, int64_t n) {
    int64_t start[DIGITS][BUCKETS] = {0};
    uint32_t *keys = (uint32_t *)(void *)*values;
    uint32_t *other = malloc((size_t)n * sizeof *other + 1);
    if (!other)
        return false;
    for (int64_t i = 0; i < n; i++)
        keys[i] = exact_key((*values)[i]);
    find_starts(keys, n, start);
    for (int d = 0; d < DIGITS; d++) {
        for (int64_t i = 0; i < n; i++)
            other[start[d][keys[i] >> d * DIGIT & (BUCKETS - 1)]++] = keys[i];
        uint32_t *sorted = other;
        other = keys;
        keys = sorted;
    }
    free(other);
    *values = (float *)(void *)keys;
    for (int64_t i = 0; i < n; i++)
        (*values)[i] = exact_unkey(keys[i]);
    return true;
}

/* How many of the sorted values are below v, or below and equal to it. */
static int64_t count_below(const float *values, int64_t n, float v, bool or_equal) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (values[middle] < v || (or_equal && values[middle] == v))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool within(float v, float low, float high) {
    return v >= low && v <= high;
}

/* In the order of their values the pixels stand like this, core pixels at the two blocks:
 *
 *   values | core below | values of the median bracket | core above | values
 *
 * so that ranks within the bracket are known. Zeros, which are only counted, lie in one of the
 * three parts. */
static bool listed_select(struct clip_set *clip, int64_t k, float *value) {
    const struct listed_set *s = clip->state;
    const bool zero_in = within(0, s->plan.median_low, s->plan.median_high);
    const int64_t first = s->median_first > s->first ? s->median_first : s->first;
    const int64_t last = s->median_last < s->last ? s->median_last : s->last;
    const int64_t zeros_before = 0 < s->plan.median_low ? s->n_zero : 0;
    const int64_t rank = k - (first - s->first + s->n_below + zeros_before);
    const int64_t negative = zero_in ? s->zero - first : 0, zeros = zero_in ? s->n_zero : 0;
    if (rank < 0 || rank >= last - first + zeros)
        return false;
    if (!zero_in || rank < negative)
        *value = s->values[first + rank];
    else
        *value = rank < negative + zeros ? 0 : s->values[first + rank - zeros];
    return true;
}

static bool listed_trim(struct clip_set *clip, float low, float high) {
    struct listed_set *s = clip->state;
    if (s->n_core > 0 && (low > s->plan.core_low || high < s->plan.core_high))
        return false;
    int64_t first = s->first, last = s->last;
    while (first < last && s->values[first] < low)
        exact_add(&clip->sums, s->values[first++], -1);
    while (last > first && s->values[last - 1] > high)
        exact_add(&clip->sums, s->values[--last], -1);
    const int64_t n_zero = within(0, low, high) ? s->n_zero : 0;
    clip->n -= (s->last - s->first) - (last - first) + s->n_zero - n_zero;
    if (clip->n == 0) /* the clip ends: the extremes stay those before it */
        return true;
    s->first = first;
    s->last = last;
    s->n_zero = n_zero;
    return true;
}

/* Adds n sorted values: neighbours mostly have the same exponent, and SAME of their squares, each
 * below 2^48, fit in 64 bits. */
static void add_sorted(struct exact_sums *sums, const float *values, int64_t n) {
    enum { SAME = 1 << 15 };
    for (int64_t i = 0; i < n;) {
        const uint32_t kind = exact_bits(values[i]) >> 23; /* sign and exponent */
        const int64_t end = n - i < SAME ? n : i + SAME;
        int64_t sum = 0;
        uint64_t square = 0;
        const int e = exact_exponent(exact_bits(values[i]));
        for (; i < end && exact_bits(values[i]) >> 23 == kind; i++) {
            const uint64_t m = exact_mantissa(exact_bits(values[i]));
            sum += (int64_t)m;
            square += m * m;
        }
        sums->sum[e] += kind >> 8 ? -sum : sum;
        sums->square[e] += square;
    }
}

static void prepare(struct listed_set *s) {
    s->first = 0;
    s->last = s->n_values;
    s->zero = count_below(s->values, s->n_values, 0, false);
    s->median_first = count_below(s->values, s->n_values, s->plan.median_low, false);
    s->median_last = count_below(s->values, s->n_values, s->plan.median_high, true);
    add_sorted(&s->set.sums, s->values, s->n_values);
    s->set.n = s->n_values + s->n_zero + s->n_core;
    s->set.state = s;
    s->set.select = listed_select;
    s->set.trim = listed_trim;
}

/* The fast loop's sums are in units of 2^(exponent - 31), which is the unit of one of the bins. */
static void add_core(struct listed_set *s, const struct scan_worker *w) {
    const int e = s->plan.exponent - 31 + EXACT_UNIT;
    s->n_core += w->sums.n_core + w->n_small;
    s->n_below += w->sums.n_below + w->n_small_below;
    s->set.sums.sum[e] += w->sums.sum;
    s->set.sums.square[e] += w->sums.square_low + ((uint128)w->sums.square_high << 32);
    exact_merge(&s->set.sums, &w->small_sums);
}

/* Puts the values of all workers into one block, the first one's. */
static bool gather(struct listed_set *s, struct scan *scan) {
    int64_t room = 0, n = 0;
    for (int i = 0; i < scan->n_workers; i++)
        n += scan->workers[i].n_values;
    for (int i = 0; i < scan->n_workers; i++) {
        struct scan_worker *w = &scan->workers[i];
        if (i == 0) {
            s->values = w->values;
            room = w->values_room;
        } else {
            if (!GROW(s->values, room, n))
                return false;
            memcpy(s->values + s->n_values, w->values ? w->values : s->values,
                   (size_t)w->n_values * sizeof *s->values);
            free(w->values);
        }
        s->n_values += w->n_values;
        w->values = NULL;
        w->n_values = w->values_room = 0;
    }
    return GROW(s->values, room, 1);
}

enum srcfind_status listed_from_scan(struct listed_set *set, struct scan *scan,
                                     struct error *error) {
    *set = (struct listed_set){.plan = scan->plan};
    for (int i = 0; i < scan->n_workers; i++) {
        add_core(set, &scan->workers[i]);
        set->n_zero += scan->workers[i].n_zero;
    }
    if (!gather(set, scan) || !sort_values(&set->values, set->n_values))
        return error_memory(error, "clipping");
    prepare(set);
    return SRCFIND_OK;
}

enum srcfind_status listed_from_values(struct listed_set *set, const float *values, int64_t n,
                                       struct error *error) {
    *set = (struct listed_set){.plan = scan_plan_all(),
                               .values = malloc((size_t)n * sizeof *set->values + 1)};
    if (!set->values)
        return error_memory(error, "clipping a sample");
    for (int64_t i = 0; i < n; i++) {
        if (values[i] == 0)
            set->n_zero++;
        else
            set->values[set->n_values++] = values[i];
    }
    if (!sort_values(&set->values, set->n_values))
        return error_memory(error, "clipping a sample");
    prepare(set);
    return SRCFIND_OK;
}

void listed_clear(struct listed_set *set) {
    free(set->values);
    *set = (struct listed_set){0};
}

bool listed_extremes(const struct listed_set *set, double *min, double *max) {
    const bool any = set->first < set->last;
    const float low = any ? set->values[set->first] : 0;
    const float high = any ? set->values[set->last - 1] : 0;
    if (set->n_core > 0 && !(any && low <= set->plan.core_low && high >= set->plan.core_high))
        return false;
    *min = set->n_zero && (!any || low > 0) ? 0 : low;
    *max = set->n_zero && (!any || high < 0) ? 0 : high;
    return true;
}
