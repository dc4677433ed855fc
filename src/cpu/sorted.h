/* Values in their order, of which a clip takes away the ends, and the sums of what is left. */
#ifndef SORTED_H
#define SORTED_H

#include <stdbool.h>
#include <stdint.h>

#include "exact.h"

struct sorted {
    float *values;
    int64_t first, last; /* those at [first, last) are left */
    struct exact_sums sums;
};

/* Sorts n finite values in memory of malloc, which it takes over, and adds them; -0 becomes 0.
 * False where memory ran out; to be cleared also then. */
bool sorted_make(struct sorted *sorted, float *values, int64_t n);
void sorted_clear(struct sorted *sorted);

/* How many of the values that are left are < v, or also those that are v. */
int64_t sorted_below(const struct sorted *sorted, float v, bool or_equal);

/* Leaves those at [first, last) of the values that are left. */
void sorted_keep(struct sorted *sorted, int64_t first, int64_t last);

#endif
