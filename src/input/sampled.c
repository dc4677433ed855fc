#include "input/sampled.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "input/chunks.h"

/* A sample has at least WANTED pixels, fewer than twice as many, and at least LEAST_ROWS rows, if
 * the image has so many. */
enum { WANTED = 1 << 13, LEAST_ROWS = 64 };

/* The row of the image that row r of the sample is. */
static int64_t sampled_y(const struct sampled *s, int64_t r) {
    return (2 * r + 1) * s->stored.height / (2 * s->n_rows);
}

/* The column of the image that column c of the sample is. */
static int64_t sampled_x(const struct sampled *s, int64_t c) {
    return s->step / 2 + c * s->step;
}

float sampled_value(const struct sampled *s, int64_t r, int64_t c) {
    const uint32_t bits =
        atomic_load_explicit(&s->bits[r * s->n_columns + c], memory_order_relaxed);
    return pixel_value(&bits, 0, s->stored.swapped);
}

/* Keeps those of the pixels [x, end) of row r of the sample that the sample has. Two threads may
 * read a pixel at the same time. */
static void keep_of_row(const struct sampled *s, int64_t r, int64_t x, int64_t end,
                        const uint32_t *pixels) {
    const int64_t before = x - s->step / 2 + s->step - 1;
    for (int64_t c = before < 0 ? 0 : before / s->step; c < s->n_columns && sampled_x(s, c) < end;
         c++)
        atomic_store_explicit(&s->bits[r * s->n_columns + c], pixels[sampled_x(s, c) - x],
                              memory_order_relaxed);
}

/* Keeps those of the pixels [first, first + count) that the sample has. */
static void keep(const struct sampled *s, int64_t first, int64_t count, const uint32_t *pixels) {
    const int64_t width = s->stored.width, height = s->stored.height, end = first + count;
    for (int64_t r = first / width * s->n_rows / height; r < s->n_rows; r++) {
        const int64_t row = sampled_y(s, r) * width;
        const int64_t from = first > row ? first : row, to = end < row + width ? end : row + width;
        if (row >= end)
            return;
        if (from < to)
            keep_of_row(s, r, from - row, to - row, pixels + (from - first));
    }
}

static const uint32_t *read_sampled(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    const struct sampled *s = state;
    const uint32_t *pixels = s->stored.read(s->stored.state, first, count, buffer, error);
    if (pixels)
        keep(s, first, count, pixels);
    return pixels;
}

bool sampled_source(struct sampled *s, const struct pixel_source *stored,
                    struct pixel_source *source) {
    const int64_t of_narrow = WANTED / stored->width;
    const int64_t rows = of_narrow > LEAST_ROWS ? of_narrow : LEAST_ROWS;
    *s = (struct sampled){.stored = *stored,
                          .n_rows = rows < stored->height ? rows : stored->height};
    s->step = stored->width * s->n_rows > WANTED ? stored->width * s->n_rows / WANTED : 1;
    s->n_columns = (stored->width - s->step / 2 + s->step - 1) / s->step;
    s->bits = malloc((size_t)(s->n_rows * s->n_columns) * sizeof *s->bits);
    for (int64_t i = 0; s->bits && i < s->n_rows * s->n_columns; i++)
        atomic_init(&s->bits[i], UINT32_MAX); /* a NaN, in either byte order */
    *source = *stored;
    source->state = s;
    source->read = read_sampled;
    return s->bits;
}

void sampled_clear(struct sampled *s) {
    free(s->bits);
    s->bits = NULL;
}
