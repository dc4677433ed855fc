#include "input/blanked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/chunks.h"

/* By their bits, whose exponent is then full: all pixels of both images come here in each read. */
void blank_where_not_finite(const uint32_t *values, bool swapped, int64_t n, uint32_t blank,
                            uint32_t *pixels) {
    const uint32_t exponent = pixel_bits(INFINITY, swapped);
    for (int64_t i = 0; i < n; i++)
        pixels[i] = (values[i] & exponent) == exponent ? blank : pixels[i];
}

static const uint32_t *read_blanked(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    const struct blanked *b = state;
    const struct pixel_source *own = &b->source, *by = &b->by;
    uint32_t *of_other = malloc((size_t)count * sizeof *of_other + 1);
    if (!of_other)
        error_memory(error, "reading two images");
    const uint32_t *values = of_other ? by->read(by->state, first, count, of_other, error) : NULL;
    const uint32_t *read = values ? own->read(own->state, first, count, buffer, error) : NULL;
    if (read && read != buffer)
        memcpy(buffer, read, (size_t)count * sizeof *buffer);
    if (read)
        blank_where_not_finite(values, by->swapped, count, pixel_bits(NAN, own->swapped), buffer);
    free(of_other);
    return read ? buffer : NULL;
}

struct pixel_source blanked_source(struct blanked *blanked, const struct pixel_source *source,
                                   const struct pixel_source *by) {
    *blanked = (struct blanked){*source, *by};
    struct pixel_source made = *by;
    made.swapped = source->swapped;
    made.state = blanked;
    made.read = read_blanked;
    return made;
}
