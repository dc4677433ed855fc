/* Reads maps of the noise that are given. */
#ifndef NOISE_MAPS_H
#define NOISE_MAPS_H

#include "backend/backend.h"

/* The noise of a range of pixels. */
struct noise_maps {
    struct noise_sources maps;
    struct noise_given *given; /* of the pixels [first, first + n) */
    uint32_t *buffer;
    int64_t first, n;
};

/* Whether any map is given. */
static inline bool noise_maps_exist(const struct noise_sources *maps) {
    return maps->background || maps->rms;
}

/* Allocates memory for ranges of up to `most` pixels. False where memory ran out. Clear it also
 * then. */
bool noise_maps_make(struct noise_maps *m, const struct noise_sources *maps, int64_t most);
void noise_maps_clear(struct noise_maps *m);

/* Reads a range. */
enum srcfind_status noise_maps_read(struct noise_maps *m, int64_t first, int64_t n,
                                    struct error *error);

#endif
