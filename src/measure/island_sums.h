/* Sums over the pixels of an island, from its integer sums: rounded once. */
#ifndef ISLAND_SUMS_H
#define ISLAND_SUMS_H

#include "backend/double_double.h"
#include "backend/island.h"

/* A sum over pixel values, given in units of `unit`, minus the same sum over `base`. */
static inline double sum_above(int128 of_values, double unit, int128 of_ones, double base) {
    return dd_minus_product(dd_integer(of_values, unit), base, dd_integer(of_ones, 1));
}

/* The sum of value - base, in the map's unit. */
static inline double island_sum_above(const struct island *i, double base) {
    return sum_above(island_sum(i, SUM_Q), ldexp(1, i->unit), i->n_pixels, base);
}

#endif
