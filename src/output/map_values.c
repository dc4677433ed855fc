#include "output/map_values.h"

#include <math.h>
#include <stdlib.h>

#include "cpu/noise_rows.h"
#include "input/chunks.h"

/* --- quantities --- */

/* In double, and rounded once. */
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
    }
    return NAN;
}

/* Replaces n pixels of row y, from pixel x on. */
static void replace_pixels(const struct quantity_values *v, const struct noise_rows *rows,
                           int64_t x, int64_t y, int64_t n, uint32_t *pixels) {
    struct noise_at noise[NOISE_RANGE];
    double model[NOISE_RANGE] = {0};
    noise_rows_get(rows, x, y, n, noise);
    if (v->model)
        model_row(v->model, y, x, n, model);
    for (int64_t i = 0; i < n; i++) {
        const float pixel = pixel_value(pixels, i, v->image->swapped);
        const float value =
            isfinite(pixel) ? quantity_at(v->quantity, noise[i], model[i], pixel) : NAN;
        memcpy(&pixels[i], &value, sizeof value);
    }
}

/* Replaces the pixels [first, first + count). */
static void replace_range(const struct quantity_values *v, const struct noise_rows *rows,
                          int64_t first, int64_t count, uint32_t *pixels) {
    const int64_t width = v->image->width;
    for (int64_t i = 0; i < count;) {
        const int64_t x = (first + i) % width, row = width - x < count - i ? width - x : count - i;
        const int64_t n = row < NOISE_RANGE ? row : NOISE_RANGE;
        replace_pixels(v, rows, x, (first + i) / width, n, pixels + i);
        i += n;
    }
}

static const uint32_t *read_quantity(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                     struct error *error) {
    const struct quantity_values *v = state;
    const uint32_t *pixels = v->image->read(v->image->state, first, count, buffer, error);
    struct noise_rows rows;
    if (!pixels)
        return NULL;
    if (pixels != buffer)
        memcpy(buffer, pixels, (size_t)count * sizeof *buffer);
    bool ok = noise_rows_make(&rows, v->noise, &v->maps, v->image->width, count);
    if (!ok)
        error_memory(error, "reading a map");
    ok = ok && noise_rows_read(&rows, first, count, error) == SRCFIND_OK;
    if (ok)
        replace_range(v, &rows, first, count, buffer);
    noise_rows_clear(&rows);
    return ok ? buffer : NULL;
}

struct pixel_source quantity_values_source(struct quantity_values *values) {
    struct pixel_source source = *values->image;
    source.swapped = false;
    source.state = values;
    source.read = read_quantity;
    return source;
}

/* --- labels --- */

/* Labels are sorted by row in two passes: the first one counts their runs. */
typedef void add_run(struct label_values *v, int64_t y, struct label_run run);

/* Counts the runs of row y in first[y + 2]. */
static void count_run(struct label_values *v, int64_t y, struct label_run run) {
    (void)run;
    v->first[y + 2]++;
}

/* first[y + 1] is where row y begins, and then where it ends. */
static void keep_run(struct label_values *v, int64_t y, struct label_run run) {
    v->runs[v->first[y + 1]++] = run;
}

/* Adds a run of pixels, cut where the label changes. label: of its pixels; NULL: all have `one`. */
static void add_labels(struct label_values *v, const struct run *run, const int32_t *label,
                       int64_t one, int64_t before, add_run *add) {
    for (int64_t x = run->x0, end; x <= run->x1; x = end + 1) {
        const int64_t own = label ? label[x - run->x0] : one;
        end = label ? x : run->x1;
        while (end < run->x1 && label[end + 1 - run->x0] == own)
            end++;
        add(v, run->y, (struct label_run){(int32_t)x, (int32_t)end, (int32_t)(before + own)});
    }
}

/* Adds all islands of a set, whose labels follow `before` others. */
static void add_set(struct label_values *v, const struct labelled *set, int64_t before,
                    add_run *add) {
    const struct segments *s = set->islands;
    const int32_t *label = set->label;
    for (int64_t k = 0; k < s->n; k++) {
        for (int64_t i = s->first_run[k]; i < s->first_run[k + 1]; i++) {
            const struct run *run = &s->runs[i];
            add_labels(v, run, label, k + 1, before, add);
            if (label)
                label += (int64_t)run->x1 - run->x0 + 1;
        }
    }
}

static void add_sets(struct label_values *v, const struct labelled *sets, int n, add_run *add) {
    int64_t before = 0;
    for (int k = 0; k < n; before += sets[k++].n)
        add_set(v, &sets[k], before, add);
}

bool label_values_make(struct label_values *v, const struct labelled *sets, int n, int64_t width,
                       int64_t height) {
    *v = (struct label_values){.width = width,
                               .first = calloc((size_t)height + 2, sizeof *v->first)};
    if (!v->first)
        return false;
    add_sets(v, sets, n, count_run);
    for (int64_t y = 0; y < height; y++)
        v->first[y + 2] += v->first[y + 1];
    v->runs = malloc((size_t)v->first[height + 1] * sizeof *v->runs + 1);
    if (!v->runs)
        return false;
    add_sets(v, sets, n, keep_run);
    return true;
}

void label_values_clear(struct label_values *values) {
    free(values->first);
    free(values->runs);
    *values = (struct label_values){0};
}

/* Writes the labels of the pixels [x, x + n) of row y. */
static void mark_labels(const struct label_values *v, int64_t x, int64_t y, int64_t n,
                        uint32_t *pixels) {
    for (int64_t i = v->first[y]; i < v->first[y + 1]; i++) {
        const struct label_run *run = &v->runs[i];
        const int64_t begin = run->x0 > x ? run->x0 : x;
        const int64_t end = run->x1 < x + n ? run->x1 + (int64_t)1 : x + n;
        for (int64_t at = begin; at < end; at++)
            pixels[at - x] = (uint32_t)run->label;
    }
}

static const uint32_t *read_labels(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct label_values *v = state;
    (void)error;
    memset(buffer, 0, (size_t)count * sizeof *buffer);
    for (int64_t i = 0; i < count;) {
        const int64_t x = (first + i) % v->width;
        const int64_t n = v->width - x < count - i ? v->width - x : count - i;
        mark_labels(v, x, (first + i) / v->width, n, buffer + i);
        i += n;
    }
    return buffer;
}

struct pixel_source label_values_source(struct label_values *values,
                                        const struct pixel_source *image) {
    struct pixel_source source = *image;
    source.swapped = false;
    source.parallel = true;
    source.state = values;
    source.read = read_labels;
    return source;
}
