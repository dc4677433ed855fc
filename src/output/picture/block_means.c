#include "output/picture/block_means.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "input/chunks.h"

enum { PARTS = 1 << 10 }; /* of a unit, in which values are summed */

static const double MOST_PARTS = 0x1p20 * PARTS;

/* A sum of a block, to which several threads add. It cannot overflow: only an image of 10^16 pixels
 * has blocks of 2^33. */
struct sum {
    _Atomic int64_t value, count;
};

struct block_sums {
    const struct block_means *means;
    struct sum *sums;
    int64_t image_width;
    bool swapped;
    double zero, scale; /* parts of a unit, in the map's unit: 1 / scale */
};

static void add_pixels(const struct block_sums *s, const uint32_t *pixels, int64_t n,
                       struct sum *sum) {
    int64_t value = 0, count = 0;
    for (int64_t i = 0; i < n; i++) {
        const float pixel = pixel_value(pixels, i, s->swapped);
        const double parts = ((double)pixel - s->zero) * s->scale;
        const double near = parts > MOST_PARTS    ? MOST_PARTS
                            : parts < -MOST_PARTS ? -MOST_PARTS
                                                  : parts;
        const bool is_value = isfinite(pixel);
        value += is_value ? llrint(near) : 0;
        count += is_value;
    }
    if (count > 0) {
        atomic_fetch_add_explicit(&sum->value, value, memory_order_relaxed);
        atomic_fetch_add_explicit(&sum->count, count, memory_order_relaxed);
    }
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static enum srcfind_status add_chunk(void *context, int worker, const struct chunk *chunk,
                                     struct error *error) {
    const struct block_sums *s = context;
    const int64_t block = s->means->block, width = s->image_width;
    (void)worker;
    (void)error;
    for (int64_t i = 0; i < chunk->count;) {
        const int64_t x = (chunk->first + i) % width, y = (chunk->first + i) / width;
        const int64_t end = smaller((x / block + 1) * block, width);
        const int64_t n = smaller(end - x, chunk->count - i);
        add_pixels(s, chunk->pixels + i, n, &s->sums[y / block * s->means->width + x / block]);
        i += n;
    }
    return SRCFIND_OK;
}

static enum srcfind_status add_image(struct block_sums *s, const struct pixel_source *image,
                                     struct threads *threads, struct error *error) {
    const struct chunk_work work = {.work = add_chunk, .context = s};
    return chunks_run(image, threads, threads_count(threads), &work, error);
}

enum srcfind_status block_means_make(struct block_means *m, const struct pixel_source *image,
                                     int64_t most, double zero, double unit,
                                     struct threads *threads, struct error *error) {
    const int64_t longest = image->width > image->height ? image->width : image->height;
    m->block = (longest + most - 1) / most;
    m->width = (image->width + m->block - 1) / m->block;
    m->height = (image->height + m->block - 1) / m->block;
    const size_t n = (size_t)(m->width * m->height);
    m->means = malloc(n * sizeof *m->means);
    struct block_sums s = {
        m, calloc(n, sizeof *s.sums), image->width, image->swapped, zero, PARTS / unit};
    enum srcfind_status status = m->means && s.sums ? add_image(&s, image, threads, error)
                                                    : error_memory(error, "drawing a picture");
    for (size_t i = 0; status == SRCFIND_OK && i < n; i++)
        m->means[i] = s.sums[i].count > 0
                          ? (float)((double)s.sums[i].value / (double)s.sums[i].count / PARTS)
                          : NAN;
    free(s.sums);
    return status;
}

void block_means_clear(struct block_means *means) {
    free(means->means);
    *means = (struct block_means){0};
}
