/* Values in order, as far as anyone asks: they are dealt to buckets of rising values, and a bucket
 * is sorted when the first question falls into it. A clip asks about few places. */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Values in no order, none of them NaN. */
struct order_part {
    const float *values;
    int64_t n;
};

struct order {
    float *values; /* bucket after bucket */
    int64_t n;
    float low, scale; /* bucket = (value - low) * scale, or the first or last */
    int64_t *start;   /* of each bucket, and of none after the last */
    bool *sorted;     /* whether a bucket is */
};

/* Copies the values of all parts, and deals them to buckets. False where memory ran out; to be
 * cleared also then. */
bool order_make(struct order *order, const struct order_part *parts, int n_parts);
void order_clear(struct order *order);

/* The value at place i of the sorted values. Both return false where memory ran out. */
bool order_at(struct order *order, int64_t i, float *value);

/* How many values are below v, or below and equal to it. */
bool order_count(struct order *order, float v, bool or_equal, int64_t *count);

#endif
