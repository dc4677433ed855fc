/* From an island's integers to a row of the catalogue: fluxes, position, size and their errors.
 * Plain C, shared by all backends. */
#ifndef MEASURE_H
#define MEASURE_H

#include "backend/backend.h"
#include "input/image.h"

/* Makes a catalogue's sources, which the caller frees, and frees the islands meanwhile, so that
 * both are never in memory as a whole. image is NULL for pixels without a header. */
enum srcfind_status measure_islands(struct detection_result *result,
                                    const struct detection *detection, const struct image *image,
                                    struct srcfind_catalogue *catalogue, struct error *error);

#endif
