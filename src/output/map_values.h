/* The values of maps, as pixel sources: computed when they are read. */
#ifndef MAP_VALUES_H
#define MAP_VALUES_H

#include "backend/backend.h"
#include "backend/segments.h"
#include "input/pixel_source.h"
#include "output/model.h"

/* (value - background) / rms; value - background - model. */
enum quantity {
    QUANTITY_RMS,
    QUANTITY_BACKGROUND,
    QUANTITY_SNR,
    QUANTITY_MODEL,
    QUANTITY_RESIDUAL
};

/* A quantity at each pixel of an image. */
struct quantity_values {
    enum quantity quantity;
    const struct pixel_source *image;
    const struct noise_map *noise;
    struct noise_sources maps;
    const struct model *model; /* of model and residual; else not used */
};

/* A source of float32 values, NaN where the pixel is blank; an SNR also where the rms is not above
 * 0. `values`, and what it points to, must outlive the source. */
struct pixel_source quantity_values_source(struct quantity_values *values);

/* Labels of pixels, row by row: those of row y are runs[first[y]] ... runs[first[y + 1] - 1]. */
struct label_values {
    int64_t width;
    int64_t *first;
    struct label_run {
        int32_t x0, x1, label;
    } * runs;
};

/* Islands, and the labels of their pixels. */
struct labelled {
    const struct segments *islands;
    const int32_t *label; /* of each pixel, from 1; NULL: the number of its island */
    int64_t n;            /* labels */
};

/* Sorts the pixels of n sets of islands by row; the labels of a set go on after those of the set
 * before. False where memory ran out. Clear the values also then. */
bool label_values_make(struct label_values *values, const struct labelled *sets, int n,
                       int64_t width, int64_t height);
void label_values_clear(struct label_values *values);

/* A source of int32 values: the label of the pixel, or 0. The chunks are those of `image`. */
struct pixel_source label_values_source(struct label_values *values,
                                        const struct pixel_source *image);

#endif
