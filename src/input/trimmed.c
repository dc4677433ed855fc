#include "input/trimmed.h"

#include <stdlib.h>
#include <string.h>

/* Copies pixels [first, first + count) of the part. rows: the pixels of the whole image from the
 * first pixel of the part in the row of `first` on. */
static void copy_part(const struct trimmed *t, int64_t first, int64_t count, const uint32_t *rows,
                      uint32_t *buffer) {
    const int64_t row = first / t->width;
    for (int64_t i = 0; i < count;) {
        const int64_t y = (first + i) / t->width, x = (first + i) % t->width;
        const int64_t n = t->width - x < count - i ? t->width - x : count - i;
        memcpy(buffer + i, rows + (y - row) * t->whole.width + x, (size_t)n * sizeof *buffer);
        i += n;
    }
}

/* Reads all rows that the pixels are in, from the first column of the part to its last one. */
static const uint32_t *read_rows(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                 struct error *error) {
    const struct trimmed *t = state;
    const int64_t row = first / t->width, last = (first + count - 1) / t->width;
    const int64_t n = (last - row) * t->whole.width + t->width;
    uint32_t *room = malloc((size_t)n * sizeof *room);
    if (!room) {
        error_memory(error, "reading a part of an image");
        return NULL;
    }
    const uint32_t *rows =
        t->whole.read(t->whole.state, (t->y + row) * t->whole.width + t->x, n, room, error);
    if (rows)
        copy_part(t, first, count, rows, buffer);
    free(room);
    return rows ? buffer : NULL;
}

/* Reads the pixels row by row. */
static const uint32_t *read_pixels(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct trimmed *t = state;
    for (int64_t i = 0; i < count;) {
        const int64_t y = (first + i) / t->width, x = (first + i) % t->width;
        const int64_t n = t->width - x < count - i ? t->width - x : count - i;
        const uint32_t *pixels = t->whole.read(
            t->whole.state, (t->y + y) * t->whole.width + t->x + x, n, buffer + i, error);
        if (!pixels)
            return NULL;
        if (pixels != buffer + i)
            memcpy(buffer + i, pixels, (size_t)n * sizeof *buffer);
        i += n;
    }
    return buffer;
}

struct pixel_source trimmed_source(struct trimmed *trimmed, const struct pixel_source *whole,
                                   int64_t x, int64_t y, int64_t width, int64_t height) {
    struct pixel_source part = *whole;
    const int64_t rows = whole->chunk_pixels / whole->width;
    *trimmed = (struct trimmed){*whole, x, y, width};
    part.width = width;
    part.height = height;
    if (whole->packed)
        part.chunk_pixels = (rows > 1 ? rows : 1) * width;
    part.state = trimmed;
    part.read = whole->packed ? read_rows : read_pixels;
    return part;
}
