#include "cpu/noise_maps.h"

#include <stdlib.h>

#include "input/chunks.h"

bool noise_maps_make(struct noise_maps *m, const struct noise_sources *maps, int64_t most) {
    *m = (struct noise_maps){.maps = *maps,
                             .given = malloc((size_t)most * sizeof *m->given + 1),
                             .buffer = malloc((size_t)most * sizeof *m->buffer + 1)};
    return m->given && m->buffer;
}

void noise_maps_clear(struct noise_maps *m) {
    free(m->given);
    free(m->buffer);
    *m = (struct noise_maps){0};
}

/* Returns the values of a map, in m->buffer or elsewhere; NULL on an error. */
static const uint32_t *read_map(struct noise_maps *m, const struct pixel_source *map,
                                struct error *error) {
    return map->read(map->state, m->first, m->n, m->buffer, error);
}

enum srcfind_status noise_maps_read(struct noise_maps *m, int64_t first, int64_t n,
                                    struct error *error) {
    const struct pixel_source *background = m->maps.background, *rms = m->maps.rms;
    const uint32_t *values = NULL;
    m->first = first;
    m->n = n;
    for (int64_t i = 0; i < n; i++)
        m->given[i] = (struct noise_given){NAN, NAN};
    if (background && !(values = read_map(m, background, error)))
        return SRCFIND_ERROR_INPUT;
    for (int64_t i = 0; background && i < n; i++)
        m->given[i].background = pixel_value(values, i, background->swapped);
    if (rms && !(values = read_map(m, rms, error)))
        return SRCFIND_ERROR_INPUT;
    for (int64_t i = 0; rms && i < n; i++)
        m->given[i].rms = pixel_value(values, i, rms->swapped);
    return SRCFIND_OK;
}
