#include "input/pixel_change.h"

#include <math.h>

#include "input/chunks.h"

/* If no value is blank, the change replaces NaN by NaN. */
struct pixel_change pixel_change_make(double blank, bool negated, bool swapped) {
    const float value = isnan(blank) ? NAN : (float)blank;
    return (struct pixel_change){.value = pixel_bits(value, swapped),
                                 .other = pixel_bits(value == 0 ? -value : value, swapped),
                                 .blank = pixel_bits(NAN, swapped),
                                 .sign = negated ? pixel_bits(-0.0F, swapped) : 0};
}

static const uint32_t *read_changed(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    const struct changed *c = state;
    const uint32_t *pixels = c->stored.read(c->stored.state, first, count, buffer, error);
    for (int64_t i = 0; pixels && i < count; i++)
        buffer[i] = changed_pixel(pixels[i], c->change);
    return pixels ? buffer : NULL;
}

struct pixel_source changed_source(struct changed *changed, const struct pixel_source *stored,
                                   struct pixel_change change) {
    struct pixel_source source = *stored;
    *changed = (struct changed){*stored, change};
    source.state = changed;
    source.read = read_changed;
    return source;
}
