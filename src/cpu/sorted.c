#include "cpu/sorted.h"

#include <stdlib.h>

#include "cpu/sort.h"

static bool sorted_select(struct clip_set *clip, int64_t k, float *value) {
    const struct sorted_set *s = clip->state;
    *value = s->values[s->first + k];
    return true;
}

/* How many of the values at [first, last) are below v, or below and equal to it. */
static int64_t count_below(const struct sorted_set *s, float v, bool or_equal) {
    int64_t low = s->first, high = s->last;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->values[middle] < v || (or_equal && s->values[middle] == v))
            low = middle + 1;
        else
            high = middle;
    }
    return low - s->first;
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

static bool sorted_trim(struct clip_set *clip, float low, float high) {
    struct sorted_set *s = clip->state;
    const int64_t first = s->first + count_below(s, low, false);
    const int64_t last = s->first + count_below(s, high, true);
    clip->n = last > first ? last - first : 0;
    if (clip->n == 0)
        return true;
    add_neighbours(&clip->sums, s->values + s->first, first - s->first, true);
    add_neighbours(&clip->sums, s->values + last, s->last - last, true);
    s->first = first;
    s->last = last;
    return true;
}

/* Copies the lists of all workers, and returns how many values they have. */
static int64_t collect(float *values, const struct scan *scan) {
    int64_t n = 0;
    for (int i = 0; i < scan->n_workers; i++) {
        const struct scan_list *list = &scan->workers[i].middle;
        if (list->n > 0)
            memcpy(values + n, list->values, (size_t)list->n * sizeof *values);
        n += list->n;
    }
    return n;
}

/* Puts n_zero zeros to their place among n sorted values, behind which there is room for them. */
static void insert_zeros(float *values, int64_t n, int64_t n_zero) {
    int64_t positive = n;
    while (positive > 0 && values[positive - 1] > 0)
        positive--;
    memmove(values + positive + n_zero, values + positive, (size_t)(n - positive) * sizeof *values);
    for (int64_t i = 0; i < n_zero; i++)
        values[positive + i] = 0;
}

static int64_t count_pixels(const struct scan *scan) {
    int64_t n = 0;
    for (int i = 0; i < scan->n_workers; i++)
        n += scan->workers[i].middle.n + scan->workers[i].n_zero;
    return n;
}

enum srcfind_status sorted_from_scan(struct sorted_set *set, const struct scan *scan,
                                     struct error *error) {
    const int64_t n = count_pixels(scan);
    *set = (struct sorted_set){.values = malloc((size_t)n * sizeof *set->values + 1), .last = n};
    uint32_t *room = malloc(2 * (size_t)n * sizeof *room + 1);
    if (set->values && room) {
        const int64_t n_listed = collect(set->values, scan);
        sort_floats(set->values, n_listed, room);
        insert_zeros(set->values, n_listed, n - n_listed);
        add_neighbours(&set->set.sums, set->values, n, false);
    }
    const bool made = set->values && room;
    free(room);
    set->set.n = n;
    set->set.state = set;
    set->set.select = sorted_select;
    set->set.trim = sorted_trim;
    return made ? SRCFIND_OK : error_memory(error, "clipping");
}

void sorted_clear(struct sorted_set *set) {
    free(set->values);
    *set = (struct sorted_set){0};
}

void sorted_extremes(const struct sorted_set *set, double *min, double *max) {
    *min = set->first < set->last ? (double)set->values[set->first] : 0;
    *max = set->first < set->last ? (double)set->values[set->last - 1] : 0;
}
