/* The values of maps: computed chunk by chunk, in one pass over the image for all maps. */
#ifndef MAP_VALUES_H
#define MAP_VALUES_H

#include "backend/backend.h"
#include "measure/model.h"
#include "output/fits_map.h"
#include "output/wide_background.h"

/* SNR is (value - background) / rms; a residual is value - background - model; injected is value +
 * model, as a search with injected sources reads it; labels are those of
 * islands or of sources; a mask is 1 at labels, else 0; none: a picture. */
enum quantity {
    QUANTITY_RMS,
    QUANTITY_BACKGROUND,
    QUANTITY_SNR,
    QUANTITY_MODEL,
    QUANTITY_RESIDUAL,
    QUANTITY_INJECTED,
    QUANTITY_LABEL,
    QUANTITY_MASK,
    QUANTITY_NONE
};

/* A map, and the file or the array of all pixels that gets its values. Labels are int32, 0 for
 * none. Other values are float32: NaN at blank pixels, but 0 in a mask; the SNR is NaN also where
 * the rms is not above 0. */
struct map_output {
    enum quantity quantity;
    struct model model;          /* of maps of the model, the residual and injected sources */
    struct label_rows labels;    /* of maps of labels and of a mask */
    struct wide_background wide; /* of maps of the background and the residual */
    struct fits_map file;        /* used if `array` is NULL */
    uint32_t *array;
};

/* The image that maps are made of. */
struct map_image {
    const struct pixel_source *source;
    const struct noise_map *noise;
    struct noise_sources user;
};

/* Makes n maps of an image with all threads, in one pass. */
enum srcfind_status map_outputs_write(const struct map_image *image, struct map_output *outputs,
                                      int n, struct threads *threads, struct error *error);

/* Frees model and labels. */
void map_output_clear(struct map_output *output);

#endif
