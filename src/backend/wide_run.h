/* Runs of pixels that are far above or below a coarse noise: the first step to bright wide islands
 * (cpu/left_out.h). Most of them are noise, so an entry of 32 bits holds a run. */
#ifndef WIDE_RUN_H
#define WIDE_RUN_H

#include "backend/noise_map.h"

static const double WIDE_PEAK = 10, WIDE_ISLAND = 3; /* coarse rms, above or below */

enum {
    WIDE_OFFSET_BITS = 20,
    WIDE_PIECE = 1 << WIDE_OFFSET_BITS, /* pixels of a piece at most */
    WIDE_LENGTH_BITS = 10,
    WIDE_LONGEST = 1 << WIDE_LENGTH_BITS, /* pixels of an entry; a longer run has several */
};

/* Neighbouring pixels of a row beyond WIDE_ISLAND rms, of one sign. */
struct wide_run {
    int64_t first, n;
    bool is_negative, has_peak;
};

/* The entries of a range of pixels, in their order. From the lowest bit: the offset of the first
 * pixel from `first`, the length less 1, whether it is negative, whether it has a peak. */
struct wide_piece {
    int64_t first, n; /* the first pixel of the range; entries */
    uint32_t *entries;
};

EXACT_FUNCTION uint32_t wide_entry(int64_t offset, int64_t n, bool is_negative, bool has_peak) {
    return (uint32_t)offset | (uint32_t)(n - 1) << WIDE_OFFSET_BITS |
           (uint32_t)is_negative << (WIDE_OFFSET_BITS + WIDE_LENGTH_BITS) |
           (uint32_t)has_peak << (WIDE_OFFSET_BITS + WIDE_LENGTH_BITS + 1);
}

EXACT_FUNCTION struct wide_run wide_run_of(const struct wide_piece *piece, uint32_t entry) {
    const struct wide_run run = {piece->first + (entry & (WIDE_PIECE - 1)),
                                 (entry >> WIDE_OFFSET_BITS & (WIDE_LONGEST - 1)) + 1,
                                 (entry >> (WIDE_OFFSET_BITS + WIDE_LENGTH_BITS) & 1) != 0,
                                 (entry >> (WIDE_OFFSET_BITS + WIDE_LENGTH_BITS + 1) & 1) != 0};
    return run;
}

/* Bounds between four nodes, of pixels and of peaks; [1]: of the negated image. */
struct wide_bounds {
    struct noise_bounds island[2], peak[2];
};

EXACT_FUNCTION struct wide_bounds wide_bounds_of(const struct noise_map *map, int64_t i,
                                                 int64_t j) {
    const struct wide_bounds bounds = {
        {noise_bounds_of(map, 1, WIDE_ISLAND, i, j), noise_bounds_of(map, -1, WIDE_ISLAND, i, j)},
        {noise_bounds_of(map, 1, WIDE_PEAK, i, j), noise_bounds_of(map, -1, WIDE_PEAK, i, j)}};
    return bounds;
}

/* What a pixel is to runs. */
struct wide_pixel {
    bool is_beyond, is_negative, has_peak; /* beyond WIDE_ISLAND rms; beyond WIDE_PEAK rms */
};

/* The pixel (x, y), by the noise there. */
EXACT_FUNCTION struct wide_pixel wide_pixel_exactly(const struct noise_map *map, int64_t x,
                                                    int64_t y, float value) {
    const struct noise_at noise = noise_map_at(map, x, y);
    const bool is_negative = (double)value < noise.background;
    const struct noise_at own = {is_negative ? -noise.background : noise.background, noise.rms};
    const float turned = is_negative ? -value : value;
    const struct wide_pixel pixel = {noise_is_exceeded(own, WIDE_ISLAND, turned), is_negative,
                                     noise_is_exceeded(own, WIDE_PEAK, turned)};
    return pixel;
}

/* The same, by the bounds between the nodes around it, if these suffice. A value that is not finite
 * is in no run. */
EXACT_FUNCTION struct wide_pixel wide_pixel_at(const struct noise_map *map,
                                               const struct wide_bounds *b, int64_t x, int64_t y,
                                               float value) {
    const bool above = value >= b->island[0].least, below = -value >= b->island[1].least;
    const float turned = below ? -value : value;
    const struct wide_pixel none = {false, false, false};
    const struct wide_pixel sure = {true, below, turned >= b->peak[below].most};
    if (!isfinite(value) || !(above || below))
        return none;
    return !(above && below) && turned >= b->island[below].most &&
                   (sure.has_peak || turned < b->peak[below].least)
               ? sure
               : wide_pixel_exactly(map, x, y, value);
}

#endif
