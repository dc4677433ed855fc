/* Makes a row of the catalogue from the integer sums of an island: fluxes, position, size and their
 * errors. All backends share this code. */
#ifndef MEASURE_H
#define MEASURE_H

#include "backend/backend.h"
#include "input/image.h"

/* Makes one row per island, in their order. The caller frees *rows; it is NULL on an error. Islands
 * are freed as their rows are made, so that memory never holds all islands and all rows; in the end
 * the segments are empty, also after an error. */
enum srcfind_status measure_islands(struct detection_result *result,
                                    const struct detection *detection, const struct image *image,
                                    const struct srcfind_image *metadata, struct threads *threads,
                                    struct srcfind_source **rows, struct error *error);

#endif
