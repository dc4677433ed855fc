/* An island as a backend measures it: box, peak and integer moments. */
#ifndef ISLAND_H
#define ISLAND_H

#include "backend/exact.h"

/* Sums over the pixels of an island: of q, q x, ... and, without values, of x, y, ... q is the
 * value as an integer, value / 2^unit (see moments_unit). (x, y) is the position relative to the
 * corner (x_min, y_min) of the bounding box. */
enum moment {
    SUM_Q,
    SUM_QX,
    SUM_QY,
    SUM_QXX,
    SUM_QYY,
    SUM_QXY,
    SUM_X,
    SUM_Y,
    SUM_XX,
    SUM_YY,
    SUM_XY,
    MOMENTS
};

/* One island. A sum is high * 2^64 + low, modulo 2^128. The sums of most islands fit in 64 bits.
 * The lower halves are stored together, at the start of the struct, aligned to 32 bytes: a GPU adds
 * to adjacent words faster. */
struct island {
    uint64_t low[MOMENTS];
    int64_t n_pixels;
    int32_t x_min, x_max, y_min, y_max;
    int32_t x_peak, y_peak;
    float peak;
    int16_t unit;
    bool edge;  /* touches the image's edge or a blank pixel */
    bool small; /* see moments_are_small */
    double snr; /* with local noise: the largest (value - background) / rms of its pixels; else 0 */
    uint64_t high[MOMENTS];
};

EXACT_FUNCTION int128 island_sum(const struct island *i, enum moment m) {
    return (int128)((uint128)i->high[m] << 64 | i->low[m]);
}

/* Adds value to a sum, modulo 2^128. */
EXACT_FUNCTION void island_add(struct island *i, enum moment m, uint128 value) {
    const uint64_t before = i->low[m];
    i->low[m] += (uint64_t)value;
    const uint64_t high = (uint64_t)(value >> 64) + (i->low[m] < before);
    if (high) /* rare */
        i->high[m] += high;
}

/* Adds value to a sum that stays below 2^63. */
EXACT_FUNCTION void island_add_small(struct island *i, enum moment m, uint64_t value) {
    i->low[m] += value;
}

#endif
