#include "input/blanked.h"

#include <math.h>

#include "input/chunks.h"

static const uint32_t *read_blanked(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    const struct blanked *b = state;
    const uint32_t *pixels = b->stored.read(b->stored.state, first, count, buffer, error);
    for (int64_t i = 0; pixels && i < count; i++)
        buffer[i] = pixels[i] == b->value || pixels[i] == b->other ? b->blank : pixels[i];
    return pixels ? buffer : NULL;
}

struct pixel_source blanked_source(struct blanked *b, const struct pixel_source *stored,
                                   double value) {
    const float pixel = (float)value;
    struct pixel_source source = *stored;
    b->stored = *stored;
    b->value = pixel_bits(pixel, stored->swapped);
    b->other = pixel_bits(pixel == 0 ? -pixel : pixel, stored->swapped);
    b->blank = pixel_bits(NAN, stored->swapped);
    source.state = b;
    source.read = read_blanked;
    return source;
}
