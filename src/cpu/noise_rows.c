#include "cpu/noise_rows.h"

#include <stdlib.h>

#include "input/chunks.h"

bool noise_rows_make(struct noise_rows *r, const struct noise_map *map,
                     const struct noise_sources *user, int64_t width, int64_t most) {
    const struct pixel_source *const sources[] = {user->background, user->rms};
    bool ok = true;
    *r = (struct noise_rows){.map = map, .user = *user, .width = width};
    for (int i = 0; i < 2; i++) {
        r->buffers[i] = sources[i] ? malloc((size_t)most * sizeof *r->buffers[i] + 1) : NULL;
        ok = ok && (r->buffers[i] || !sources[i]);
    }
    return ok;
}

void noise_rows_clear(struct noise_rows *r) {
    for (int i = 0; i < 2; i++)
        free(r->buffers[i]);
    *r = (struct noise_rows){0};
}

enum srcfind_status noise_rows_read(struct noise_rows *r, int64_t first, int64_t n,
                                    struct error *error) {
    const struct pixel_source *background = r->user.background, *rms = r->user.rms;
    r->first = first;
    if (background &&
        !(r->background = background->read(background->state, first, n, r->buffers[0], error)))
        return SRCFIND_ERROR_INPUT;
    if (rms && !(r->rms = rms->read(rms->state, first, n, r->buffers[1], error)))
        return SRCFIND_ERROR_INPUT;
    return SRCFIND_OK;
}

void noise_rows_get(const struct noise_rows *r, int64_t x, int64_t y, int64_t n,
                    struct noise_at *noise) {
    const int64_t at = y * r->width + x - r->first;
    noise_map_row(r->map, y, x, n, noise);
    for (int64_t i = 0; r->background && i < n; i++)
        noise[i].background =
            (double)pixel_value(r->background, at + i, r->user.background->swapped);
    for (int64_t i = 0; r->rms && i < n; i++)
        noise[i].rms = (double)pixel_value(r->rms, at + i, r->user.rms->swapped);
}
