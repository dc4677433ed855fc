#include "cpu/sorted_values.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "cpu/sort.h"

/* Adds the values at [i, last) to the sums, or subtracts them. Neighbours mostly have the same sign
 * and exponent; the sum of SAME squares, each below 2^48, fits in 64 bits. */
static void add_range(struct sorted_values *s, int64_t i, int64_t last, bool subtract) {
    enum { SAME = 1 << 15 };
    const uint32_t *keys = s->keys;
    while (i < last) {
        const uint32_t sign_and_exponent = keys[i] >> 23;
        const int64_t end = last - i < SAME ? last : i + SAME;
        const uint32_t first = exact_bits(exact_unkey(keys[i]));
        int64_t sum = 0;
        uint64_t square = 0;
        for (; i < end && keys[i] >> 23 == sign_and_exponent; i++) {
            const uint64_t m = exact_mantissa(exact_bits(exact_unkey(keys[i])));
            sum += (int64_t)m;
            square += m * m;
        }
        const int e = exact_exponent(first);
        s->sums.sum[e] += (first >> 31 != 0) != subtract ? -sum : sum;
        s->sums.square[e] += subtract ? -(uint128)square : square;
    }
}

bool sorted_make(struct sorted_values *s, uint32_t *keys, int64_t n) {
    uint32_t *scratch = arrays_allocate(n, sizeof *scratch);
    *s = (struct sorted_values){.keys = keys, .last = n};
    if (!scratch)
        return false;
    sort_keys(keys, n, scratch);
    free(scratch);
    add_range(s, 0, n, false);
    return true;
}

void sorted_clear(struct sorted_values *s) {
    free(s->keys);
    *s = (struct sorted_values){0};
}

float sorted_at(const struct sorted_values *s, int64_t i) {
    return exact_unkey(s->keys[s->first + i]);
}

int64_t sorted_below(const struct sorted_values *s, float v, bool or_equal) {
    const uint32_t key = exact_key(v);
    int64_t low = s->first, high = s->last;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->keys[middle] < key || (or_equal && s->keys[middle] == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low - s->first;
}

void sorted_keep(struct sorted_values *s, int64_t first, int64_t last) {
    add_range(s, s->first, s->first + first, true);
    add_range(s, s->first + last, s->last, true);
    s->last = s->first + last;
    s->first += first;
}
