#include "input/negated.h"

#include "input/chunks.h"

static const uint32_t *read_negated(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    const struct negated *n = state;
    const uint32_t *pixels = n->stored.read(n->stored.state, first, count, buffer, error);
    for (int64_t i = 0; pixels && i < count; i++)
        buffer[i] = pixels[i] ^ n->sign;
    return pixels ? buffer : NULL;
}

struct pixel_source negated_source(struct negated *negated, const struct pixel_source *stored) {
    struct pixel_source source = *stored;
    negated->stored = *stored;
    negated->sign = pixel_bits(-0.0F, stored->swapped);
    source.state = negated;
    source.read = read_negated;
    return source;
}
