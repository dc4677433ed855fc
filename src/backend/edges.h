/* Tests whether pixels lie at the edge of the observed area; shared by all backends. */
#ifndef EDGES_H
#define EDGES_H

#include "backend/exact.h"

/* Whether any of the bits first ... last of a map is set. */
EXACT_FUNCTION bool edges_any(const uint64_t *map, int64_t first, int64_t last) {
    for (int64_t word = first / 64; word <= last / 64; word++) {
        uint64_t bits = map[word];
        if (word == first / 64)
            bits &= ~(uint64_t)0 << first % 64;
        if (word == last / 64)
            bits &= ~(uint64_t)0 >> (63 - last % 64);
        if (bits)
            return true;
    }
    return false;
}

/* Whether the pixels x0 ... x1 of row y lie on the edge of a width x height image, or one of the
 * pixels around them is blank: bit y * pitch + x of the map, which may be NULL. */
EXACT_FUNCTION bool edges_touch(int64_t x0, int64_t x1, int64_t y, int64_t width, int64_t height,
                                int64_t pitch, const uint64_t *blank) {
    if (x0 == 0 || x1 == width - 1 || y == 0 || y == height - 1)
        return true;
    for (int64_t row = y - 1; blank && row <= y + 1; row++)
        if (edges_any(blank, row * pitch + x0 - 1, row * pitch + x1 + 1))
            return true;
    return false;
}

#endif
