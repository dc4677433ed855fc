/* The values of maps: computed chunk by chunk, in one pass over the image for all maps. */
#ifndef MAP_VALUES_H
#define MAP_VALUES_H

#include "backend/backend.h"
#include "measure/labels.h"
#include "measure/model.h"
#include "output/fits_map.h"

/* (value - background) / rms; value - background - model; the labels of islands or sources; 1 where
 * there is a label, else 0. */
enum quantity {
    QUANTITY_RMS,
    QUANTITY_BACKGROUND,
    QUANTITY_SNR,
    QUANTITY_MODEL,
    QUANTITY_RESIDUAL,
    QUANTITY_LABEL,
    QUANTITY_MASK
};

/* Labels of pixels, row by row: those of row y are runs[first[y]] ... runs[first[y + 1] - 1], those
 * of the smallest scale first. */
struct label_rows {
    int64_t *first;
    struct labelled_run *runs;
};

/* Sorts labels by row, in an image of this height. False where memory ran out. Clear the rows also
 * then. */
bool label_rows_make(struct label_rows *rows, const struct labels *labels, int64_t height);

/* A map, and where its values go: to a file or to an array of all pixels. Float32 values, NaN where
 * the pixel is blank, an SNR also where the rms is not above 0, but a mask is 0 there; or int32
 * labels, 0 where there is none. */
struct map_output {
    enum quantity quantity;
    struct model model;       /* of model and residual */
    struct label_rows labels; /* of labels and a mask */
    struct fits_map file;     /* if there is no array */
    uint32_t *array;
};

/* The image that maps are made of. */
struct map_image {
    const struct pixel_source *source;
    const struct noise_map *noise;
    struct noise_sources user;
};

/* Makes n maps with all threads, in one pass. The image is not read for labels alone. */
enum srcfind_status map_outputs_write(const struct map_image *image, struct map_output *outputs,
                                      int n, struct threads *threads, struct error *error);

/* Frees model and labels. */
void map_output_clear(struct map_output *output);

#endif
