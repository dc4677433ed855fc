/* A value of a rank among many, without a sort. */
#ifndef RANK_H
#define RANK_H

#include <stdint.h>

/* The value of a rank, from 0, among n >= 1 values, whose order changes: quickselect (Hoare 1961,
 * CACM 4, 321), with a pivot from the middle. */
double value_of_rank(double *values, int64_t n, int64_t rank);

#endif
