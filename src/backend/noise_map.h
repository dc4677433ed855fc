/* Background and rms at each position of the image. All stages after the clip get them from the
 * map, and do not know how it was made. */
#ifndef NOISE_MAP_H
#define NOISE_MAP_H

#include <stdbool.h>
#include <stdlib.h>

#include "backend/boxes.h"

/* Background and rms at a node, or at a pixel. */
struct noise_at {
    double background, rms;
};

/* One background and one rms for the whole image, or nodes, between which both are interpolated. */
struct noise_map {
    double background, rms; /* of the whole image */
    struct noise_at *nodes; /* nodes[j * n_x + i]; NULL if there is one noise for the whole image */
    int64_t n_x, n_y, step; /* of the nodes */
    bool no_node_counts; /* the nodes have the noise of the whole image, since none has its own */
};

/* A position among the nodes of an axis: `fraction` of the way from node `first` to node `next`. */
struct noise_position {
    int64_t first, next;
    double fraction;
};

/* The position of pixel x. Beyond the outermost nodes, it is that of the nearest node. */
EXACT_FUNCTION struct noise_position noise_position(int64_t x, int64_t n_nodes, int64_t step) {
    const double u = (double)(2 * x - (step - 1)) / (double)(2 * step);
    const double last = (double)(n_nodes - 1), inside = u < 0 ? 0 : u > last ? last : u;
    const int64_t first = (int64_t)inside;
    const struct noise_position p = {first, first + 1 < n_nodes ? first + 1 : first,
                                     inside - (double)first};
    return p;
}

/* Interpolation along y between the nodes of one column of the map. */
EXACT_FUNCTION struct noise_at noise_between(const struct noise_at *nodes, int64_t n_x, int64_t i,
                                             struct noise_position y) {
    const struct noise_at *a = &nodes[y.first * n_x + i], *b = &nodes[y.next * n_x + i];
    const struct noise_at n = {a->background + y.fraction * (b->background - a->background),
                               a->rms + y.fraction * (b->rms - a->rms)};
    return n;
}

/* The first pixel behind those whose position has node i first. */
EXACT_FUNCTION int64_t noise_column_end(int64_t i, int64_t n_nodes, int64_t step) {
    return i + 1 < n_nodes ? (i + 1) * step + step / 2 : INT64_MAX;
}

/* Writes the noise at n pixels of row y, from pixel x on: column by column of nodes, between which
 * a pixel takes the arithmetic of noise_position alone. */
EXACT_FUNCTION void noise_map_row(const struct noise_map *map, int64_t y, int64_t x, int64_t n,
                                  struct noise_at *noise) {
    const struct noise_at whole = {map->background, map->rms};
    if (!map->nodes) {
        for (int64_t i = 0; i < n; i++)
            noise[i] = whole;
        return;
    }
    const struct noise_position at_y = noise_position(y, map->n_y, map->step);
    for (int64_t i = 0; i < n;) {
        const struct noise_position at_x = noise_position(x + i, map->n_x, map->step);
        const int64_t column_end = noise_column_end(at_x.first, map->n_x, map->step) - x;
        const int64_t end = column_end < n ? column_end : n;
        const struct noise_at a = noise_between(map->nodes, map->n_x, at_x.first, at_y);
        const struct noise_at b = noise_between(map->nodes, map->n_x, at_x.next, at_y);
        const double background = b.background - a.background, rms = b.rms - a.rms;
        for (; i < end; i++) {
            const double u = (double)(2 * (x + i) - (map->step - 1)) / (double)(2 * map->step);
            const double fraction = u < 0 || at_x.next == at_x.first ? 0 : u - (double)at_x.first;
            noise[i].background = a.background + fraction * background;
            noise[i].rms = a.rms + fraction * rms;
        }
    }
}

/* The noise at pixel (x, y). */
EXACT_FUNCTION struct noise_at noise_map_at(const struct noise_map *map, int64_t x, int64_t y) {
    struct noise_at noise;
    noise_map_row(map, y, x, 1, &noise);
    return noise;
}

enum { NOISE_RANGE = 64 }; /* pixels of which the CPU computes the noise at a time */

/* Thresholds that vary over the image, in units of the rms. */
struct noise_thresholds {
    const struct noise_map *map;
    double island, detection;
};

/* Whether a pixel is above n_rms times the noise at its place. */
EXACT_FUNCTION bool noise_is_exceeded(struct noise_at noise, double n_rms, float pixel) {
    return (double)pixel - noise.background > n_rms * noise.rms;
}

/* A value that is not above `n_rms` times the noise anywhere between four nodes is less than
 * `least`; one from `most` on is above it everywhere. */
struct noise_bounds {
    float least, most;
};

/* Background and rms are interpolated, so that their sum is least and greatest at nodes. The bounds
 * have a margin that is larger than all errors of rounding. sign: 1, or -1 for the negated image.
 */
EXACT_FUNCTION struct noise_bounds noise_bounds_of(const struct noise_map *map, double sign,
                                                   double n_rms, int64_t i, int64_t j) {
    const int64_t right = i + 1 < map->n_x ? i + 1 : i, above = j + 1 < map->n_y ? j + 1 : j;
    const struct noise_at *nodes[] = {
        &map->nodes[j * map->n_x + i], &map->nodes[j * map->n_x + right],
        &map->nodes[above * map->n_x + i], &map->nodes[above * map->n_x + right]};
    double least = INFINITY, most = -INFINITY, widest = 0;
    for (int k = 0; k < 4; k++) {
        const double background = sign * nodes[k]->background, reach = n_rms * nodes[k]->rms;
        least = fmin(least, background + reach);
        most = fmax(most, background + reach);
        widest = fmax(widest, fabs(background) + reach);
    }
    const struct noise_bounds none = {INFINITY, INFINITY};
    const struct noise_bounds bounds = {exact_below(least - 0x1p-40 * widest),
                                        exact_above(most + 0x1p-40 * widest)};
    return isfinite(widest) ? bounds : none;
}

/* Frees the nodes. */
static inline void noise_map_clear(struct noise_map *map) {
    free(map->nodes);
    map->nodes = NULL;
}

#endif
