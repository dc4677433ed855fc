#include "measure/residual_source.h"

#include "input/chunks.h"

enum { PIXELS_AT_ONCE = 512 };

static const uint32_t *read_residual(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                     struct error *error) {
    const struct residual *r = state;
    const int64_t width = r->stored.width;
    const bool swapped = r->stored.swapped;
    double sums[PIXELS_AT_ONCE];
    const uint32_t *pixels = r->stored.read(r->stored.state, first, count, buffer, error);
    for (int64_t i = 0, n; pixels && i < count; i += n) {
        const int64_t y = (first + i) / width, x = (first + i) % width;
        n = width - x < count - i ? width - x : count - i;
        n = n < PIXELS_AT_ONCE ? n : PIXELS_AT_ONCE;
        model_row(r->model, y, x, n, sums);
        for (int64_t k = 0; k < n; k++) {
            const double value = pixel_value(pixels, i + k, swapped);
            buffer[i + k] = pixel_bits((float)(value - sums[k]), swapped);
        }
    }
    return pixels ? buffer : NULL;
}

struct pixel_source residual_source(struct residual *residual, const struct pixel_source *stored,
                                    const struct model *model) {
    struct pixel_source source = *stored;
    *residual = (struct residual){*stored, model};
    source.state = residual;
    source.read = read_residual;
    return source;
}
