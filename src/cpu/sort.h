/* Radix sort, and what qsort needs. */
#ifndef SORT_H
#define SORT_H

#include <stdint.h>

/* Sorts n keys in ascending order. scratch is a buffer of n elements. */
void sort_keys(uint32_t *keys, int64_t n, uint32_t *scratch);

/* Compares floats, of which none is NaN, for qsort. */
int compare_floats(const void *a, const void *b);

#endif
