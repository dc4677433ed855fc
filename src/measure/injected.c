#include "measure/injected.h"

#include <string.h>

#include "input/chunks.h"

/* Adds the model to n pixels of row y, from pixel x on, all in one cell. */
static void add_to_cell(const struct injected *s, int64_t y, int64_t x, int64_t n,
                        uint32_t *pixels) {
    double sums[MODEL_CELL];
    if (model_reaching(&s->model, x / MODEL_CELL, y / MODEL_CELL).n == 0)
        return;
    model_row(&s->model, y, x, n, sums);
    for (int64_t i = 0; i < n; i++) {
        const float value = pixel_value(pixels, i, s->stored.swapped);
        const float changed = (float)((double)value + sums[i]);
        if (sums[i] != 0 && isfinite(changed))
            pixels[i] = pixel_bits(changed, s->stored.swapped);
    }
}

static const uint32_t *read_injected(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                     struct error *error) {
    const struct injected *s = state;
    const uint32_t *pixels = s->stored.read(s->stored.state, first, count, buffer, error);
    if (!pixels)
        return NULL;
    if (pixels != buffer)
        memcpy(buffer, pixels, (size_t)count * sizeof *buffer);
    for (int64_t i = 0; i < count;) {
        const int64_t y = (first + i) / s->stored.width, x = (first + i) % s->stored.width;
        const int64_t of_cell = MODEL_CELL - x % MODEL_CELL, of_row = s->stored.width - x;
        const int64_t most = of_cell < of_row ? of_cell : of_row;
        const int64_t n = most < count - i ? most : count - i;
        add_to_cell(s, y, x, n, buffer + i);
        i += n;
    }
    return buffer;
}

bool injected_source(struct injected *injected, const struct pixel_source *stored,
                     const struct gaussian *gaussians, int64_t n, struct pixel_source *source) {
    const struct model_box image = {0, 0, stored->width, stored->height, MODEL_CELL};
    injected->stored = *stored;
    *source = *stored;
    source->state = injected;
    source->read = read_injected;
    return model_make(&injected->model, gaussians, n, &image);
}

void injected_clear(struct injected *injected) {
    model_clear(&injected->model);
}
