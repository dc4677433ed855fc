#include "cpu/order.h"

#include <stdlib.h>
#include <string.h>

#include "exact.h"

enum { BUCKETS = 1 << 10, PROBES = 64, DIGIT = 11, DIGITS = 3, DIGIT_VALUES = 1 << DIGIT };

/* --- dealing --- */

/* Never less for a greater value, whatever is rounded. */
static inline int bucket_of(const struct order *o, float value) {
    float bucket = (value - o->low) * o->scale;
    bucket = bucket > 0 ? bucket : 0;
    return (int)(bucket < BUCKETS - 1 ? bucket : BUCKETS - 1);
}

/* Buckets are evenly spaced over three times the range that a few of the values tell, without an
 * eighth of them at both ends. */
static void choose_buckets(struct order *o, const struct order_part *parts) {
    float probe[PROBES];
    int64_t next = 0; /* of the values of this part and those after it */
    for (int i = 0; i < PROBES; i++) {
        for (; o->n > 0 && next >= parts->n; parts++)
            next -= parts->n;
        const float v = o->n > 0 ? parts->values[next] : 0;
        next += o->n / PROBES;
        int at = i;
        for (; at > 0 && probe[at - 1] > v; at--)
            probe[at] = probe[at - 1];
        probe[at] = v;
    }
    const float low = probe[PROBES / 8], span = probe[PROBES - 1 - PROBES / 8] - low;
    o->low = low - span;
    o->scale = span > 0 ? BUCKETS / (3 * span) : 0;
}

/* start[b + 1] runs from the start of bucket b to its end meanwhile. */
static void deal(struct order *o, const struct order_part *parts, int n_parts) {
    int64_t *next = o->start + 1, sum = 0;
    for (int p = 0; p < n_parts; p++)
        for (int64_t i = 0; i < parts[p].n; i++)
            next[bucket_of(o, parts[p].values[i])]++;
    for (int b = 0; b < BUCKETS; b++) {
        const int64_t count = next[b];
        next[b] = sum;
        sum += count;
    }
    for (int p = 0; p < n_parts; p++)
        for (int64_t i = 0; i < parts[p].n; i++)
            o->values[next[bucket_of(o, parts[p].values[i])]++] = parts[p].values[i];
}

bool order_make(struct order *o, const struct order_part *parts, int n_parts) {
    *o = (struct order){0};
    for (int p = 0; p < n_parts; p++)
        o->n += parts[p].n;
    o->values = malloc((size_t)o->n * sizeof *o->values + 1);
    o->start = calloc(BUCKETS + 1, sizeof *o->start);
    o->sorted = calloc(BUCKETS, sizeof *o->sorted);
    if (!o->values || !o->start || !o->sorted)
        return false;
    choose_buckets(o, parts);
    deal(o, parts, n_parts);
    return true;
}

void order_clear(struct order *o) {
    free(o->values);
    free(o->start);
    free(o->sorted);
    *o = (struct order){0};
}

/* --- sorting --- */

/* One round of an LSD radix sort. */
static void sort_by_digit(const uint32_t *keys, int64_t n, int digit, uint32_t *sorted) {
    int64_t start[DIGIT_VALUES] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++)
        start[keys[i] >> digit * DIGIT & (DIGIT_VALUES - 1)]++;
    for (int b = 0; b < DIGIT_VALUES; b++) {
        const int64_t count = start[b];
        start[b] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        sorted[start[keys[i] >> digit * DIGIT & (DIGIT_VALUES - 1)]++] = keys[i];
}

static bool sort_values(float *values, int64_t n) {
    uint32_t *keys = malloc((size_t)n * sizeof *keys + 1);
    uint32_t *other = malloc((size_t)n * sizeof *other + 1);
    const bool ok = keys && other;
    for (int64_t i = 0; ok && i < n; i++)
        keys[i] = exact_key(values[i]);
    for (int digit = 0; ok && digit < DIGITS; digit++) {
        sort_by_digit(keys, n, digit, other);
        uint32_t *sorted = other;
        other = keys;
        keys = sorted;
    }
    for (int64_t i = 0; ok && i < n; i++)
        values[i] = exact_unkey(keys[i]);
    free(keys);
    free(other);
    return ok;
}

static bool sort_bucket(struct order *o, int b) {
    if (!o->sorted[b])
        o->sorted[b] = sort_values(o->values + o->start[b], o->start[b + 1] - o->start[b]);
    return o->sorted[b];
}

/* --- questions --- */

bool order_at(struct order *o, int64_t i, float *value) {
    int low = 0, high = BUCKETS - 1; /* the last bucket that starts at or before i */
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (o->start[middle] <= i)
            low = middle;
        else
            high = middle - 1;
    }
    if (!sort_bucket(o, low))
        return false;
    *value = o->values[i];
    return true;
}

bool order_count(struct order *o, float v, bool or_equal, int64_t *count) {
    const int b = bucket_of(o, v);
    int64_t low = o->start[b], high = o->start[b + 1];
    if (!sort_bucket(o, b))
        return false;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (o->values[middle] < v || (or_equal && o->values[middle] == v))
            low = middle + 1;
        else
            high = middle;
    }
    *count = low;
    return true;
}
