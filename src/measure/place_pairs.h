/* Which amplitudes of close places err together. */
#ifndef PLACE_PAIRS_H
#define PLACE_PAIRS_H

#include "measure/correlation.h"
#include "measure/place.h"

/* Two places, by their indices, and the correlation of the errors of their amplitudes. */
struct place_pair {
    int64_t first, second;
    double correlation;
};

struct place_pairs {
    struct place_pair *all;
    int64_t n, capacity;
};

/* Finds the pairs among n places whose amplitudes are correlated by more than 0.1, of either sign,
 * where all of them are fitted (places.h) in this noise: the elements of N^-1 B N^-T
 * (amplitudes.h), over the roots of its diagonal. No pixels are needed. frame: the beam is its unit
 * circle. Places are sorted, and twins, which have one amplitude, are pairs of the correlation 1.
 * Of a place's neighbours in other parts of a cluster, the 64 that are nearest to its part count.
 * False where memory ran out; the caller frees `all` in any case. */
bool place_pairs_find(struct place *places, int64_t n, const struct fit_frame *frame,
                      const struct correlation *noise, struct place_pairs *pairs);

#endif
