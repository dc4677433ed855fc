#include "output/map_values.h"

#include <math.h>
#include <stdlib.h>

#include "cpu/noise_maps.h"
#include "input/chunks.h"

/* --- noise --- */

enum { PIECE = 64 }; /* pixels whose noise is computed at a time */

static float noise_value(enum noise_quantity quantity, struct noise_at noise, float pixel) {
    switch (quantity) {
    case NOISE_RMS:
        return (float)noise.rms;
    case NOISE_BACKGROUND:
        return (float)noise.background;
    case NOISE_SNR:
        return noise.rms > 0 ? (float)(((double)pixel - noise.background) / noise.rms) : NAN;
    }
    return NAN;
}

/* Replaces n pixels of row y, from pixel x on. */
static void replace_pixels(const struct noise_values *v, int64_t x, int64_t y, int64_t n,
                           const struct noise_given *given, uint32_t *pixels) {
    struct noise_at noise[PIECE];
    noise_row(v->map, y, x, n, given, noise);
    for (int64_t i = 0; i < n; i++) {
        const float pixel = pixel_value(pixels, i, v->image->swapped);
        const float value = isfinite(pixel) ? noise_value(v->quantity, noise[i], pixel) : NAN;
        memcpy(&pixels[i], &value, sizeof value);
    }
}

/* Replaces the pixels [first, first + count). given is NULL if no map of the noise is. */
static void replace_range(const struct noise_values *v, int64_t first, int64_t count,
                          const struct noise_given *given, uint32_t *pixels) {
    const int64_t width = v->image->width;
    for (int64_t i = 0; i < count;) {
        const int64_t x = (first + i) % width, row = width - x < count - i ? width - x : count - i;
        const int64_t n = row < PIECE ? row : PIECE;
        replace_pixels(v, x, (first + i) / width, n, given ? given + i : NULL, pixels + i);
        i += n;
    }
}

/* The same with what the maps have there. False on an error. */
static bool replace_by_maps(const struct noise_values *v, int64_t first, int64_t count,
                            uint32_t *pixels, struct error *error) {
    struct noise_maps maps;
    bool ok = noise_maps_make(&maps, &v->maps, count);
    if (!ok)
        error_memory(error, "reading a map");
    ok = ok && noise_maps_read(&maps, first, count, error) == SRCFIND_OK;
    if (ok)
        replace_range(v, first, count, maps.given, pixels);
    noise_maps_clear(&maps);
    return ok;
}

static const uint32_t *read_noise(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                  struct error *error) {
    const struct noise_values *v = state;
    const uint32_t *pixels = v->image->read(v->image->state, first, count, buffer, error);
    if (!pixels)
        return NULL;
    if (pixels != buffer)
        memcpy(buffer, pixels, (size_t)count * sizeof *buffer);
    if (noise_maps_exist(&v->maps))
        return replace_by_maps(v, first, count, buffer, error) ? buffer : NULL;
    replace_range(v, first, count, NULL, buffer);
    return buffer;
}

struct pixel_source noise_values_source(struct noise_values *values) {
    struct pixel_source source = *values->image;
    source.swapped = false;
    source.state = values;
    source.read = read_noise;
    return source;
}

/* --- islands --- */

/* Adds the runs of a set; its islands have the numbers from first_id on. */
static void add_runs(struct island_values *v, const struct segments *s, int64_t first_id) {
    for (int64_t k = 0; k < s->n; k++) {
        for (int64_t i = s->first_run[k]; i < s->first_run[k + 1]; i++) {
            const struct run *run = &s->runs[i];
            v->runs[v->first[run->y + 1]++] =
                (struct island_run){run->x0, run->x1, (int32_t)(first_id + k)};
        }
    }
}

static int64_t count_runs(const struct segments *s) {
    return s->n > 0 ? s->first_run[s->n] : 0;
}

bool island_values_make(struct island_values *v, const struct segments *sets, int n, int64_t width,
                        int64_t height) {
    int64_t n_runs = 0, first_id = 1;
    for (int k = 0; k < n; k++)
        n_runs += count_runs(&sets[k]);
    *v = (struct island_values){.width = width,
                                .first = calloc((size_t)height + 2, sizeof *v->first),
                                .runs = malloc((size_t)n_runs * sizeof *v->runs + 1)};
    if (!v->first || !v->runs)
        return false;
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < count_runs(&sets[k]); i++)
            v->first[sets[k].runs[i].y + 2]++;
    for (int64_t y = 0; y < height; y++)
        v->first[y + 2] += v->first[y + 1];
    /* first[y + 1] is now where row y begins, and will be where it ends. */
    for (int k = 0; k < n; first_id += sets[k++].n)
        add_runs(v, &sets[k], first_id);
    return true;
}

void island_values_clear(struct island_values *values) {
    free(values->first);
    free(values->runs);
    *values = (struct island_values){0};
}

/* Marks the islands in the pixels [x, x + n) of row y. */
static void mark_islands(const struct island_values *v, int64_t x, int64_t y, int64_t n,
                         uint32_t *pixels) {
    for (int64_t i = v->first[y]; i < v->first[y + 1]; i++) {
        const struct island_run *run = &v->runs[i];
        const int64_t begin = run->x0 > x ? run->x0 : x;
        const int64_t end = run->x1 < x + n ? run->x1 + (int64_t)1 : x + n;
        for (int64_t at = begin; at < end; at++)
            pixels[at - x] = (uint32_t)run->id;
    }
}

static const uint32_t *read_islands(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    const struct island_values *v = state;
    (void)error;
    memset(buffer, 0, (size_t)count * sizeof *buffer);
    for (int64_t i = 0; i < count;) {
        const int64_t x = (first + i) % v->width;
        const int64_t n = v->width - x < count - i ? v->width - x : count - i;
        mark_islands(v, x, (first + i) / v->width, n, buffer + i);
        i += n;
    }
    return buffer;
}

struct pixel_source island_values_source(struct island_values *values,
                                         const struct pixel_source *image) {
    struct pixel_source source = *image;
    source.swapped = false;
    source.parallel = true;
    source.state = values;
    source.read = read_islands;
    return source;
}
