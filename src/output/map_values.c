/* How maps get their values:
 *
 * 1. The labels of each map of islands, sources or a mask are sorted by row (label_rows.h).
 * 2. Threads take chunks of the image. Background and rms of a chunk are read or interpolated once
 *    for all maps (cpu/noise_rows.h), and each map computes its values from them, from the pixels,
 *    from labels and from the model. Background and residual take the background of a scale where
 *    a source of the scale is (wide_background.h).
 * 3. Values go to the array of the map, or to their offset in the file.
 *
 * All maps are made in one pass over the image; labels alone need no pixels, and none are read.
 * Each value is computed in double and rounded once, so it does not depend on the number of
 * threads. Each thread holds a chunk of values. */
#include "output/map_values.h"

#include <math.h>
#include <stdlib.h>

#include "cpu/noise_rows.h"
#include "input/chunks.h"

/* --- quantities --- */

/* A pixel to which a model is added: as injected.c has it. */
static float injected_at(float pixel, double model) {
    const float changed = (float)((double)pixel + model);
    return model != 0 && isfinite(changed) ? changed : pixel;
}

/* Computes a value in double, and rounds it once. */
static float quantity_at(enum quantity quantity, struct noise_at noise, double model, float pixel) {
    const double above = (double)pixel - noise.background;
    switch (quantity) {
    case QUANTITY_RMS:
        return (float)noise.rms;
    case QUANTITY_BACKGROUND:
        return (float)noise.background;
    case QUANTITY_SNR:
        return noise.rms > 0 ? (float)(above / noise.rms) : NAN;
    case QUANTITY_MODEL:
        return (float)model;
    case QUANTITY_RESIDUAL:
        return (float)(above - model);
    case QUANTITY_INJECTED:
        return injected_at(pixel, model);
    case QUANTITY_LABEL:
    case QUANTITY_MASK:
    case QUANTITY_NONE:
        break;
    }
    return NAN;
}

/* Pixels [x, x + n) of row y. */
struct row_part {
    int64_t x, y, n;
    const uint32_t *pixels;
    bool swapped;
};

static void write_quantity(const struct map_output *o, const struct noise_rows *rows,
                           const struct row_part *part, uint32_t *values) {
    struct noise_at noise[NOISE_RANGE];
    double model[NOISE_RANGE] = {0};
    noise_rows_get(rows, part->x, part->y, part->n, noise);
    wide_background_put(&o->wide, part->x, part->y, part->n, noise);
    if (o->model.first)
        model_row(&o->model, part->y, part->x, part->n, model);
    for (int64_t i = 0; i < part->n; i++) {
        const float pixel = pixel_value(part->pixels, i, part->swapped);
        const float value =
            isfinite(pixel) ? quantity_at(o->quantity, noise[i], model[i], pixel) : NAN;
        memcpy(&values[i], &value, sizeof value);
    }
}

/* Writes the mask of pixels: 1 if a pixel has a label and is not blank. */
static void write_mask(const struct label_rows *rows, const struct row_part *part,
                       uint32_t *values) {
    label_rows_get(rows, part->x, part->y, part->n, values);
    for (int64_t i = 0; i < part->n; i++) {
        const bool is_inside =
            values[i] != 0 && isfinite(pixel_value(part->pixels, i, part->swapped));
        const float value = is_inside ? 1 : 0;
        memcpy(&values[i], &value, sizeof value);
    }
}

/* --- chunks --- */

struct map_pass {
    const struct map_image *image;
    const struct map_output *outputs;
    int n;
};

/* Computes the values of a map for a chunk. */
static void compute(const struct map_pass *w, const struct map_output *o,
                    const struct noise_rows *rows, const struct chunk *chunk, uint32_t *values) {
    const int64_t width = w->image->source->width;
    for (int64_t i = 0; i < chunk->count;) {
        struct row_part part = {.x = (chunk->first + i) % width,
                                .y = (chunk->first + i) / width,
                                .pixels = chunk->pixels + i,
                                .swapped = w->image->source->swapped};
        part.n = width - part.x < chunk->count - i ? width - part.x : chunk->count - i;
        if (o->quantity == QUANTITY_LABEL) {
            label_rows_get(&o->labels, part.x, part.y, part.n, values + i);
        } else if (o->quantity == QUANTITY_MASK) {
            write_mask(&o->labels, &part, values + i);
        } else {
            part.n = part.n < NOISE_RANGE ? part.n : NOISE_RANGE;
            write_quantity(o, rows, &part, values + i);
        }
        i += part.n;
    }
}

/* Writes the values of all maps for a chunk; `buffer` has room for the values of one map. */
static enum srcfind_status write_maps(const struct map_pass *w, const struct noise_rows *rows,
                                      const struct chunk *chunk, uint32_t *buffer,
                                      struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    for (int k = 0; status == SRCFIND_OK && k < w->n; k++) {
        const struct map_output *o = &w->outputs[k];
        compute(w, o, rows, chunk, o->array ? o->array + chunk->first : buffer);
        if (!o->array)
            status = fits_map_put(&o->file, chunk->first, chunk->count, buffer, error);
    }
    return status;
}

static enum srcfind_status write_chunk(void *context, int worker, const struct chunk *chunk,
                                       struct error *error) {
    const struct map_pass *w = context;
    const struct map_image *image = w->image;
    struct noise_rows rows;
    (void)worker;
    uint32_t *buffer = malloc((size_t)chunk->count * sizeof *buffer);
    const bool ok =
        noise_rows_make(&rows, image->noise, &image->user, image->source->width, chunk->count) &&
        buffer;
    enum srcfind_status status = ok ? noise_rows_read(&rows, chunk->first, chunk->count, error)
                                    : error_memory(error, "making a map");
    if (status == SRCFIND_OK)
        status = write_maps(w, &rows, chunk, buffer, error);
    noise_rows_clear(&rows);
    free(buffer);
    return status;
}

/* Leaves the buffer as it is: labels need no pixels. */
static const uint32_t *read_nothing(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    (void)state, (void)first, (void)count, (void)error;
    return buffer;
}

enum srcfind_status map_outputs_write(const struct map_image *image, struct map_output *outputs,
                                      int n, struct threads *threads, struct error *error) {
    struct map_image read = *image;
    struct pixel_source source = *image->source;
    struct map_pass pass = {&read, outputs, n};
    const struct chunk_work work = {.work = write_chunk, .context = &pass};
    bool needs_pixels = false;
    for (int k = 0; k < n; k++)
        needs_pixels = needs_pixels || outputs[k].quantity != QUANTITY_LABEL;
    if (!needs_pixels) {
        source.read = read_nothing;
        source.parallel = true;
        read.user = (struct noise_sources){NULL, NULL};
    }
    read.source = &source;
    const bool one = noise_sources_exist(&read.user) &&
                     !(source.parallel && noise_sources_are_parallel(&read.user));
    return chunks_run(&source, threads, one ? 1 : threads_count(threads), &work, error);
}

void map_output_clear(struct map_output *output) {
    model_clear(&output->model);
    label_rows_clear(&output->labels);
    wide_background_clear(&output->wide);
}
