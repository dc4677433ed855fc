/* Bins of values, in their order, and equal parts of bins: by them the CUDA backend counts and
 * sorts what a scan has listed. What rounds here keeps its order. Compiled for host and device, so
 * that it can be tested without one. */
#ifndef VALUE_BINS_H
#define VALUE_BINS_H

#include "backend/exact.h"

/* Bins are by the distance from a first guess of the median, in units of about half the rms. They
 * are 2^-OCTAVE_BITS wide up to 1, twice as wide up to 3, and so on. Each has 2^PLACE_BITS places.
 */
enum {
    OCTAVE_BITS = 7,
    OCTAVES = 16,
    SIDE = OCTAVES << OCTAVE_BITS, /* bins on either side of the median */
    BINS = 2 * SIDE,
    PLACE_BITS = 23 - OCTAVE_BITS,
};

struct bin_scale {
    float centre, per_unit;
};

/* The parts that the values of a bin belong to: equal ones of the bin, or one that it shares. */
struct bin_parts {
    uint16_t first, n;
};

/* The number of a value's place, below BINS << PLACE_BITS. What is further out than all bins is at
 * the ends. */
EXACT_FUNCTION uint32_t bin_place(const struct bin_scale *scale, float v) {
    const float x = (v - scale->centre) * scale->per_unit;
    const uint32_t side = (uint32_t)SIDE << PLACE_BITS;
    const uint32_t distance = exact_bits(1 + fabsf(x)) - exact_bits(1.0f);
    const uint32_t step = distance < side - 1 ? distance : side - 1;
    return x < 0 ? side - 1 - step : side + step;
}

/* The distance of the lower bound of step i, from the centre outwards. */
EXACT_FUNCTION float bin_step_bound(int i) {
    return exact_float(((uint32_t)i << PLACE_BITS) + exact_bits(1.0f)) - 1;
}

/* The distance from the centre, in units, at some share (0 to 1) of a bin. */
EXACT_FUNCTION float bin_x(int bin, float share) {
    const int i = bin < SIDE ? SIDE - 1 - bin : bin - SIDE;
    const float near = bin_step_bound(i), far = bin_step_bound(i + 1);
    return bin < SIDE ? -(far + (near - far) * share) : near + (far - near) * share;
}

/* The part of a place, which is in a bin with these parts. */
EXACT_FUNCTION uint32_t bin_part(struct bin_parts parts, uint32_t place) {
    return parts.first + (place % (1u << PLACE_BITS) * parts.n >> PLACE_BITS);
}

#endif
