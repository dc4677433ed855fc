/* Lists of values in no order, and what a clip asks of them: sums of what it leaves, and the value
 * at a place of the order. A pass over a list takes less time than to put it in order, and a clip
 * asks a few times. */
#ifndef VALUES_H
#define VALUES_H

#include "cpu/scan.h"
#include "cpu/sorted_values.h"

/* Finite values; the caller's. */
struct values_part {
    const float *values;
    int64_t n;
};

/* Values that are next to each other in the order: those within [low, high]. */
struct values_stretch {
    float low, high;
    int64_t before, n; /* how many values come before them; how many they are */
};

struct values {
    const struct scan_variant *variant;
    struct values_part *parts;
    int n_parts, exponent; /* in units of 2^(exponent - 31), values are integers below 2^31 */
    struct sorted odd;     /* of those that are left, the ones that are not such integers */
    struct values_stretch all, asked; /* all values; those that were asked for last */
    float *some;                      /* values of a stretch */
    uint32_t *keys;                   /* theirs, in their order; with room for sorting */
    int64_t n_sorted, before;         /* how many; how many values come before them */
};

/* Of the values that are left. */
struct values_sums {
    int64_t n, n_below; /* how many; how many of them are below what was asked */
    struct exact_sums sums;
};

/* Makes ready n_parts parts, which are copied, of values within [low, high], both finite, and adds
 * all values, as values_trim does. False where memory ran out; to be cleared also then. */
bool values_make(struct values *values, const struct scan_variant *variant,
                 const struct values_part *parts, int n_parts, float low, float high, float below,
                 struct values_sums *sums);
void values_clear(struct values *values);

/* Leaves the values within [low, high], bounds within those of the last time, and adds what is left
 * to sums; counts those of them that are < below. */
void values_trim(struct values *values, float low, float high, float below,
                 struct values_sums *sums);

/* The value at place i of the order of all values, one that there is. */
float values_at(struct values *values, int64_t i);

/* The least and the greatest of the values within [low, high], where they go beyond *least and
 * *greatest. */
void values_extend(const struct values *values, float low, float high, float *least,
                   float *greatest);

#endif
