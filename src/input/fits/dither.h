/* Subtractive dithering of quantised floats, by the FITS standard 10.2 and its appendix I: a table
 * of 10,000 random numbers that all programs share, entered at a place that the tile's number
 * gives. */
#ifndef DITHER_H
#define DITHER_H

#include <stdint.h>

enum { DITHER_NUMBERS = 10000 };

/* Where a tile is in the table; the pixel that is next. */
struct dither {
    int64_t pixel;
    int seed, next;
};

/* At the first pixel of the tile of this number, counted from 1 and moved by ZDITHER0 - 1. */
struct dither dither_start(int64_t tile);

/* The numbers of a pixel and those that follow it, of *n at the most, as far as they lie in a row:
 * *n is set to how many these are. Pixels are asked for in their order. */
const float *dither_numbers(struct dither *dither, int64_t pixel, int64_t *n);

#endif
