/* Sorted values, and the exact sums of those that a clip has not yet removed at either end. */
#ifndef SORTED_VALUES_H
#define SORTED_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/exact.h"

struct sorted_values {
    uint32_t *keys;      /* of the values */
    int64_t first, last; /* those at [first, last) are left */
    struct exact_sums sums;
};

/* Sorts the keys of n finite values, and sums the values. `sorted` takes ownership of keys, which
 * come from malloc. The caller clears `sorted`, also after a failure. */
bool sorted_make(struct sorted_values *sorted, uint32_t *keys, int64_t n);
void sorted_clear(struct sorted_values *sorted);

/* The value at index i of those that are left. */
float sorted_at(const struct sorted_values *sorted, int64_t i);

/* The number of values that are left and < v, or <= v if or_equal. */
int64_t sorted_below(const struct sorted_values *sorted, float v, bool or_equal);

/* Of the values that are left, keeps those at [first, last) and removes the others. */
void sorted_keep(struct sorted_values *sorted, int64_t first, int64_t last);

#endif
