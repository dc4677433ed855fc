/* The values of maps, as pixel sources: computed when they are read. */
#ifndef MAP_VALUES_H
#define MAP_VALUES_H

#include "backend/backend.h"
#include "backend/segments.h"
#include "input/pixel_source.h"

enum noise_quantity { NOISE_RMS, NOISE_BACKGROUND, NOISE_SNR };

/* The noise at each pixel of an image. */
struct noise_values {
    const struct pixel_source *image;
    const struct noise_map *map;
    struct noise_sources maps;
    enum noise_quantity quantity;
};

/* A source of float32 values, NaN where the pixel is blank; an SNR also where the rms is not above
 * 0. `values`, and what it points to, must outlive the source. */
struct pixel_source noise_values_source(struct noise_values *values);

/* The pixels of islands, row by row: those of row y are first[y] ... first[y + 1] - 1. */
struct island_values {
    int64_t width;
    int64_t *first;
    struct island_run {
        int32_t x0, x1, id;
    } * runs;
};

/* Sorts the runs of n sets of islands by row; the numbers of a set go on after those of the set
 * before. False where memory ran out. Clear the values also then. */
bool island_values_make(struct island_values *values, const struct segments *sets, int n,
                        int64_t width, int64_t height);
void island_values_clear(struct island_values *values);

/* A source of int32 values: the number of the island, from 1, or 0. The chunks are those of
 * `image`. */
struct pixel_source island_values_source(struct island_values *values,
                                         const struct pixel_source *image);

#endif
