/* Values in their order, of which a clip takes away the ends, and the sums of what is left. */
#ifndef SORTED_H
#define SORTED_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/exact.h"

struct sorted {
    uint32_t *keys;      /* of the values */
    int64_t first, last; /* those at [first, last) are left */
    struct exact_sums sums;
};

/* Sorts the keys of n finite values, in memory of malloc, which it takes over, and adds the values.
 * False where memory ran out; to be cleared also then. */
bool sorted_make(struct sorted *sorted, uint32_t *keys, int64_t n);
void sorted_clear(struct sorted *sorted);

/* The value at place i of those that are left. */
float sorted_at(const struct sorted *sorted, int64_t i);

/* How many of the values that are left are < v, or also those that are v. */
int64_t sorted_below(const struct sorted *sorted, float v, bool or_equal);

/* Leaves those at [first, last) of the values that are left. */
void sorted_keep(struct sorted *sorted, int64_t first, int64_t last);

#endif
