#include "cpu/listed.h"

#include <stdlib.h>

#include "grow.h"

static bool listed_select(struct clip_set *clip, int64_t k, float *value) {
    struct listed_set *s = clip->state;
    int64_t i;
    *value = 0;
    switch (listed_locate(&s->ranks, &s->plan, k, &i)) {
    case LISTED_ZERO:
        return true;
    case LISTED_VALUE:
        return order_at(&s->order, i, value);
    default:
        return false;
    }
}

static void take_away(struct listed_set *s, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++)
        exact_add(&s->set.sums, s->order.values[i], -1);
}

static bool listed_trim(struct clip_set *clip, float low, float high) {
    struct listed_set *s = clip->state;
    const struct listed_ranks before = s->ranks;
    int64_t first, last;
    if (!listed_keeps_core(&before, &s->plan, low, high) ||
        !order_count(&s->order, low, false, &first) || !order_count(&s->order, high, true, &last))
        return false;
    clip->n = listed_keep(&s->ranks, first, last, low, high);
    take_away(s, before.first, s->ranks.first);
    take_away(s, s->ranks.last, before.last);
    return true;
}

/* Adds n values of which neighbours mostly have the same sign and exponent; SAME of their squares,
 * each below 2^48, fit in 64 bits. */
static void add_neighbours(struct exact_sums *sums, const float *values, int64_t n) {
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
        sums->sum[e] += kind >> 8 ? -sum : sum;
        sums->square[e] += square;
    }
}

/* Takes over n values, and makes the set ready for a clip. */
static bool prepare(struct listed_set *s, float *values, int64_t n) {
    if (!order_make(&s->order, values, n) || !order_count(&s->order, 0, false, &s->ranks.zero) ||
        !order_count(&s->order, s->plan.median_low, false, &s->ranks.median_first) ||
        !order_count(&s->order, s->plan.median_high, true, &s->ranks.median_last))
        return false;
    add_neighbours(&s->set.sums, s->order.values, n);
    s->ranks.last = n;
    s->set.n = n + s->ranks.n_zero + s->ranks.n_core;
    s->set.state = s;
    s->set.select = listed_select;
    s->set.trim = listed_trim;
    return true;
}

/* Puts the values of all workers into the first one's block. */
static bool gather(struct scan *scan) {
    struct scan_worker *first = &scan->workers[0];
    int64_t total = 0;
    for (int i = 0; i < scan->n_workers; i++)
        total += scan->workers[i].n_values;
    if (!GROW(first->values, first->values_room, total))
        return false;
    for (int i = 1; i < scan->n_workers; i++) {
        struct scan_worker *w = &scan->workers[i];
        if (w->n_values > 0)
            memcpy(first->values + first->n_values, w->values,
                   (size_t)w->n_values * sizeof *w->values);
        first->n_values += w->n_values;
        free(w->values);
        w->values = NULL;
        w->n_values = w->values_room = 0;
    }
    return true;
}

enum srcfind_status listed_from_scan(struct listed_set *set, struct scan *scan,
                                     struct error *error) {
    struct scan_worker *first = &scan->workers[0];
    *set = (struct listed_set){.plan = scan->plan};
    for (int i = 0; i < scan->n_workers; i++) {
        exact_merge(&set->set.sums, &scan->workers[i].sums);
        set->ranks.n_core += scan->workers[i].n_core;
        set->ranks.n_below += scan->workers[i].n_below;
        set->ranks.n_zero += scan->workers[i].n_zero;
    }
    if (!gather(scan))
        return error_memory(error, "clipping");
    float *values = first->values;
    const int64_t n = first->n_values;
    first->values = NULL;
    first->n_values = first->values_room = 0;
    return prepare(set, values, n) ? SRCFIND_OK : error_memory(error, "clipping");
}

enum srcfind_status listed_from_values(struct listed_set *set, const float *values, int64_t n,
                                       struct error *error) {
    float *copy = malloc((size_t)n * sizeof *copy + 1);
    int64_t n_copied = 0;
    *set = (struct listed_set){.plan = scan_plan_all(INFINITY)};
    if (!copy)
        return error_memory(error, "clipping a sample");
    for (int64_t i = 0; i < n; i++) {
        copy[n_copied] = values[i];
        n_copied += values[i] != 0;
    }
    set->ranks.n_zero = n - n_copied;
    return prepare(set, copy, n_copied) ? SRCFIND_OK : error_memory(error, "clipping a sample");
}

void listed_clear(struct listed_set *set) {
    order_clear(&set->order);
}

bool listed_extremes(struct listed_set *set, double *min, double *max) {
    const struct listed_ranks *r = &set->ranks;
    float low = 0, high = 0;
    if (r->first < r->last &&
        !(order_at(&set->order, r->first, &low) && order_at(&set->order, r->last - 1, &high)))
        return false;
    return listed_extremes_of(r, &set->plan, low, high, min, max);
}
