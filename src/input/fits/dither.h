/* Subtractive dithering of quantised floats, by the FITS standard 10.2 and its appendix I: all
 * programs use the same table of 10,000 random numbers, and the number of a tile gives the index in
 * it at which the tile begins. */
#ifndef DITHER_H
#define DITHER_H

#include <stdint.h>

enum { DITHER_NUMBERS = 10000 };

/* The position of a tile in the table. */
struct dither {
    int64_t pixel; /* the next pixel of the tile */
    int seed;      /* the index of the number from which the start of this walk was computed */
    int next;      /* the index of the next pixel's number */
};

/* Returns the position of a tile's first pixel. `tile` is the tile's number, counted from 1, plus
 * ZDITHER0 - 1. */
struct dither dither_start(int64_t tile);

/* Returns the numbers of *n pixels, from `pixel` on. *n is reduced if the walk ends before. `pixel`
 * must not decrease from call to call. */
const float *dither_numbers(struct dither *dither, int64_t pixel, int64_t *n);

#endif
