/* Cells of HEALPix (Gorski et al. 2005, ApJ 622, 759), nested, of order 29. */
#ifndef HEALPIX_H
#define HEALPIX_H

#include <stdint.h>

#include "input/regions/sky.h"

enum { HEALPIX_ORDER = 29 };

/* The number of cells of an order, 0 to 29. */
static inline int64_t healpix_cells(int order) {
    return INT64_C(12) << (2 * order);
}

/* The cell that a direction is in. */
int64_t healpix_cell(const struct direction *direction);

#endif
