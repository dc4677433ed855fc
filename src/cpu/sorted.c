#include "cpu/sorted.h"

#include <stdlib.h>

#include "cpu/sort.h"
#include "pages.h"

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

bool sorted_make(struct sorted *s, float *values, int64_t n) {
    uint32_t *room = malloc(2 * (size_t)n * sizeof *room + 1);
    pages_ask_for_huge(room, 2 * (size_t)n * sizeof *room);
    *s = (struct sorted){.values = values, .last = n};
    if (!room)
        return false;
    sort_floats(values, n, room);
    free(room);
    add_neighbours(&s->sums, values, n, false);
    return true;
}

void sorted_clear(struct sorted *s) {
    free(s->values);
    *s = (struct sorted){0};
}

int64_t sorted_below(const struct sorted *s, float v, bool or_equal) {
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

void sorted_keep(struct sorted *s, int64_t first, int64_t last) {
    const float *left = s->values + s->first;
    add_neighbours(&s->sums, left, first, true);
    add_neighbours(&s->sums, left + last, s->last - s->first - last, true);
    s->last = s->first + last;
    s->first += first;
}
