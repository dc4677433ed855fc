/* Bins in which both backends count the values of a sample. Bins are in ascending order; rounding
 * is monotonic. */
#ifndef VALUE_BINS_H
#define VALUE_BINS_H

#include "backend/exact.h"

/* The bin of a value follows from its distance from an estimate of the median, in units of about
 * half the rms. Bins are 2^-OCTAVE_BITS wide up to a distance of 1, twice as wide up to 3, and so
 * on. */
enum {
    OCTAVE_BITS = 7,
    OCTAVES = 16,
    SIDE = OCTAVES << OCTAVE_BITS, /* bins on either side of the median */
    BINS = 2 * SIDE,
    STEP_BITS = 23 - OCTAVE_BITS, /* of a float's mantissa, within a bin */
};

struct bin_scale {
    float centre, per_unit;
};

/* The bin of a value, 0 to BINS - 1. Values beyond all bins are in the outermost bins. */
EXACT_FUNCTION int bin_of(const struct bin_scale *scale, float v) {
    const float x = (v - scale->centre) * scale->per_unit;
    const uint32_t step = (exact_bits(1 + fabsf(x)) - exact_bits(1.0f)) >> STEP_BITS;
    const int i = step < SIDE ? (int)step : SIDE - 1;
    return x < 0 ? SIDE - 1 - i : SIDE + i;
}

/* The inner bound of the i-th bin from the centre outwards, as a distance in units. */
EXACT_FUNCTION float bin_step_bound(int i) {
    return exact_float(((uint32_t)i << STEP_BITS) + exact_bits(1.0f)) - 1;
}

/* The signed distance from the centre, in units, at a share (0 to 1) of the width of a bin. */
EXACT_FUNCTION float bin_x(int bin, float share) {
    const int i = bin < SIDE ? SIDE - 1 - bin : bin - SIDE;
    const float near = bin_step_bound(i), far = bin_step_bound(i + 1);
    return bin < SIDE ? -(far + (near - far) * share) : near + (far - near) * share;
}

#endif
