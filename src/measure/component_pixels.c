#include "measure/component_pixels.h"

#include <string.h>

#include "backend/moments.h"

/* Extends a source by pixel i of the island. */
static void add_extent(const struct island_pixels *pixels, const struct island_pixels *detected,
                       int64_t i, struct component *c) {
    const int32_t x = pixels->x[i], y = pixels->y[i];
    const double above = island_above(pixels, i);
    struct island *p = &c->pixels;
    if (p->n_pixels++ == 0) {
        p->x_min = p->x_max = x;
        p->y_min = y;
        c->least = c->most = above;
        c->snr = 0;
    }
    c->snr = fmax(c->snr, island_above(detected, i) / detected->rms[i]);
    c->least = fmin(c->least, above);
    c->most = fmax(c->most, above);
    p->x_min = x < p->x_min ? x : p->x_min;
    p->x_max = x > p->x_max ? x : p->x_max;
    p->y_max = y;
    if (p->n_pixels == 1 || island_above(detected, i) > island_above(detected, c->highest)) {
        p->peak = pixels->value[i];
        p->x_peak = x;
        p->y_peak = y;
        c->highest = i;
    }
}

/* Adds a pixel's value - background to the moments. */
static void add_moments(const struct island_pixels *pixels, int64_t i, struct component *c) {
    struct island *p = &c->pixels;
    const double above = island_above(pixels, i), per_unit = ldexp(1, -p->unit);
    const int64_t x = (int64_t)pixels->x[i] - p->x_min, y = pixels->y[i] - p->y_min;
    if (p->small)
        moments_add_small_local_row(p, &above, 1, x, y, per_unit);
    else
        moments_add_local_row(p, &above, 1, x, y, per_unit);
}

void component_pixels_measure(const struct island_pixels *pixels,
                              const struct island_pixels *detected, const int32_t *source_of,
                              int64_t n, struct component *components) {
    for (int64_t i = 0; i < pixels->n; i++)
        add_extent(pixels, detected, i, &components[source_of ? source_of[i] : 0]);
    for (int64_t k = 0; k < n; k++) {
        struct component *c = &components[k];
        if (c->pixels.n_pixels == 0)
            continue;
        c->noise = (struct noise_at){pixels->background[c->highest], pixels->rms[c->highest]};
        c->pixels.unit = moments_local_unit(&c->pixels, fmax(c->most, -c->least));
        c->pixels.small = c->least >= 0 && moments_are_small_locally(&c->pixels);
    }
    for (int64_t i = 0; i < pixels->n; i++)
        add_moments(pixels, i, &components[source_of ? source_of[i] : 0]);
}

/* Sums values without subtracting a background, as a search with one noise does. The unit follows
 * from the threshold or the lowest value, whichever is lower: values of another image may be below
 * the threshold. */
static void sum_values(const struct component_setting *d, const struct island_pixels *p,
                       struct island *island) {
    struct island highest = *island; /* its peak: the highest value */
    float lowest = thresholds_of(d->measure->noise, false, d->detection).island;
    for (int64_t i = 0; i < p->n; i++) {
        lowest = fminf(lowest, p->value[i]);
        highest.peak = fmaxf(highest.peak, p->value[i]);
    }
    island->unit = highest.unit = moments_unit(&highest, lowest);
    island->small = moments_are_small(&highest, lowest);
    const double per_unit = ldexp(1, -island->unit);
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t x = (int64_t)p->x[i] - island->x_min, y = (int64_t)p->y[i] - island->y_min;
        if (island->small)
            moments_add_small_row(island, &p->value[i], 1, x, y, per_unit);
        else
            moments_add_row(island, &p->value[i], 1, x, y, per_unit);
    }
}

/* Whether the noise is one for all pixels that are measured. */
static bool is_one_noise(const struct component_setting *d) {
    const struct run_source *from = d->measure;
    return !from->noise->nodes && !noise_sources_exist(&from->user);
}

void component_pixels_complete(const struct component_setting *setting,
                               const struct island_pixels *pixels,
                               const struct island_pixels *detected, struct island *island) {
    struct component whole = {.pixels = {.edge = island->edge}};
    component_pixels_measure(pixels, detected, NULL, 1, &whole);
    *island = whole.pixels;
    if (!is_one_noise(setting))
        return;
    memset(island->low, 0, sizeof island->low);
    memset(island->high, 0, sizeof island->high);
    sum_values(setting, pixels, island);
}
