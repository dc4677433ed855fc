#include "cpu/listed.h"

#include <stdlib.h>

static bool listed_select(struct clip_set *clip, int64_t k, float *value) {
    struct listed_set *s = clip->state;
    int64_t i;
    *value = 0;
    switch (listed_locate(&s->ranks, &s->plan, k, &i)) {
    case LISTED_ZERO:
        return true;
    case LISTED_VALUE:
        return order_at(&s->middle, i - s->ranks.median_first, value);
    default:
        return false;
    }
}

/* Adds n values of which neighbours mostly have the same sign and exponent, or takes them away;
 * SAME of their squares, each below 2^48, fit in 64 bits. */
static void add_neighbours(struct exact_sums *sums, const float *values, int64_t n, bool away) {
    enum { SAME = 1 << 15 };
    for (int64_t i = 0; i < n;) {
        const uint32_t kind = exact_bits(values[i]) >> 23;
        const int64_t end = n - i < SAME ? n : i + SAME;
        const int e = exact_exponent(exact_bits(values[i]));
        int64_t sum = 0;
        uint64_t square = 0;
        for (; i < end && exact_bits(values[i]) >> 23 == kind; i++) {
            const uint64_t m = exact_mantissa(exact_bits(values[i]));
            sum += (int64_t)m;
            square += m * m;
        }
        sums->sum[e] += (kind >> 8 != 0) != away ? -sum : sum;
        sums->square[e] += away ? -(uint128)square : square;
    }
}

/* The place among the values of the middle, or of the tails, of a place among all. */
static int64_t in_middle(const struct listed_ranks *r, int64_t i) {
    i = i < r->median_last ? i : r->median_last;
    return i > r->median_first ? i - r->median_first : 0;
}

static int64_t in_tails(const struct listed_ranks *r, int64_t i) {
    return i - in_middle(r, i);
}

/* Takes the values at [first, last) of all out of the sums. */
static void take_away(struct listed_set *s, int64_t first, int64_t last) {
    const struct listed_ranks *r = &s->ranks;
    const int64_t of_middle = in_middle(r, first), of_tails = in_tails(r, first);
    add_neighbours(&s->set.sums, s->middle.values + of_middle, in_middle(r, last) - of_middle,
                   true);
    add_neighbours(&s->set.sums, s->tails.values + of_tails, in_tails(r, last) - of_tails, true);
}

/* How many of all values are below v, or below and equal to it. */
static bool count_all(struct listed_set *s, float v, bool or_equal, int64_t *count) {
    int64_t of_tails;
    if (!order_count(&s->middle, v, or_equal, count) ||
        !order_count(&s->tails, v, or_equal, &of_tails))
        return false;
    *count += of_tails;
    return true;
}

static bool listed_trim(struct clip_set *clip, float low, float high) {
    struct listed_set *s = clip->state;
    const struct listed_ranks before = s->ranks;
    int64_t first, last;
    if (!listed_keeps_core(&before, &s->plan, low, high) || !count_all(s, low, false, &first) ||
        !count_all(s, high, true, &last))
        return false;
    clip->n = listed_keep(&s->ranks, first, last, low, high);
    take_away(s, before.first, s->ranks.first);
    take_away(s, s->ranks.last, before.last);
    return true;
}

static void free_list(struct scan_list *list) {
    free(list->values);
    *list = (struct scan_list){0};
}

/* Takes the values of the median bracket over. There are parts for all workers. */
static bool order_middle(struct order *middle, struct scan *scan, struct order_part *parts) {
    for (int i = 0; i < scan->n_workers; i++) {
        const struct scan_list *list = &scan->workers[i].middle;
        parts[i] = (struct order_part){list->values, list->n};
    }
    const bool made = order_make(middle, parts, scan->n_workers);
    for (int i = 0; i < scan->n_workers; i++)
        free_list(&scan->workers[i].middle);
    return made;
}

/* Takes those beyond the core over, but copies the candidates, for which there are parts, too. */
static bool order_tails(struct order *tails, struct scan *scan, struct order_part *parts) {
    int n = 0;
    for (int i = 0; i < scan->n_workers; i++) {
        const struct scan_worker *w = &scan->workers[i];
        parts[n++] = (struct order_part){w->tails.values, w->tails.n};
        if (scan->tails_end < INFINITY)
            parts[n++] = (struct order_part){w->candidates, w->n_candidates};
    }
    const bool made = order_make(tails, parts, n);
    for (int i = 0; i < scan->n_workers; i++)
        free_list(&scan->workers[i].tails);
    return made;
}

static bool order_lists(struct listed_set *s, struct scan *scan) {
    struct order_part *parts = malloc(2 * (size_t)scan->n_workers * sizeof *parts);
    const bool made =
        parts && order_middle(&s->middle, scan, parts) && order_tails(&s->tails, scan, parts);
    free(parts);
    return made;
}

/* Makes the set ready for a clip. The sums of the bracket's values are there already. */
static bool prepare(struct listed_set *s) {
    if (!order_count(&s->tails, s->plan.median_low, false, &s->ranks.median_first) ||
        !count_all(s, 0, false, &s->ranks.zero))
        return false;
    add_neighbours(&s->set.sums, s->tails.values, s->tails.n, false);
    s->ranks.median_last = s->ranks.median_first + s->middle.n;
    s->ranks.last = s->middle.n + s->tails.n;
    s->set.n = s->ranks.last + s->ranks.n_zero + s->ranks.n_core;
    s->set.state = s;
    s->set.select = listed_select;
    s->set.trim = listed_trim;
    return true;
}

enum srcfind_status listed_from_scan(struct listed_set *set, struct scan *scan,
                                     struct error *error) {
    *set = (struct listed_set){.plan = scan->plan};
    for (int i = 0; i < scan->n_workers; i++) {
        exact_merge(&set->set.sums, &scan->workers[i].sums);
        set->ranks.n_core += scan->workers[i].n_core;
        set->ranks.n_below += scan->workers[i].n_below;
        set->ranks.n_zero += scan->workers[i].n_zero;
    }
    return order_lists(set, scan) && prepare(set) ? SRCFIND_OK : error_memory(error, "clipping");
}

void listed_clear(struct listed_set *set) {
    order_clear(&set->middle);
    order_clear(&set->tails);
}

/* The value at a place among all. */
static bool value_at(struct listed_set *s, int64_t i, float *value) {
    const struct listed_ranks *r = &s->ranks;
    const bool of_middle = i >= r->median_first && i < r->median_last;
    return of_middle ? order_at(&s->middle, i - r->median_first, value)
                     : order_at(&s->tails, in_tails(r, i), value);
}

bool listed_extremes(struct listed_set *set, double *min, double *max) {
    const struct listed_ranks *r = &set->ranks;
    float low = 0, high = 0;
    if (r->first < r->last && !(value_at(set, r->first, &low) && value_at(set, r->last - 1, &high)))
        return false;
    return listed_extremes_of(r, &set->plan, low, high, min, max);
}
