/* Sorting of floats. */
#ifndef SORT_H
#define SORT_H

#include <stdint.h>

/* Sorts n values, none of them NaN; -0 becomes 0. room is for 2 n numbers. */
void sort_floats(float *values, int64_t n, uint32_t *room);

#endif
