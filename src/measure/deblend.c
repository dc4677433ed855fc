#include "measure/deblend.h"

#include "common/forest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_YET = -1, NONE = -1 };

/* All arrays have an element for each pixel. */
struct division {
    const struct island_pixels *pixels;
    int32_t *order;         /* the pixels in falling order */
    int32_t *above, *below; /* the first pixel of the row above (below) that can touch */
    int32_t *parent;        /* in the tree of its branch, whose root is the highest pixel */
    int32_t *branch;        /* the highest pixel of the branch that the pixel was added to */
    int32_t *into;          /* of a branch's highest pixel: the branch that it is part of */
};

/* Whether pixel a is higher than pixel b. */
static bool is_higher(const struct island_pixels *p, int32_t a, int32_t b) {
    const double above_a = island_above(p, a), above_b = island_above(p, b);
    return above_a > above_b || (a < b && above_a == above_b);
}

/* --- islands of one source --- */

/* Whether a pixel of row y, from column x to x + 2, is higher than pixel i; first: the first pixel
 * of this row that is at x or later, or of a later row. */
static bool is_higher_in_row(const struct island_pixels *p, int64_t i, int64_t first, int64_t y,
                             int64_t x) {
    for (int64_t j = first; j < p->n && p->y[j] == y && p->x[j] <= x + 2; j++)
        if (is_higher(p, (int32_t)j, (int32_t)i))
            return true;
    return false;
}

/* Moves *j to the first pixel of row y that is at x or later, or of a later row. */
static void advance(const struct island_pixels *p, int64_t y, int64_t x, int64_t *j) {
    while (*j < p->n && (p->y[*j] < y || (p->y[*j] == y && p->x[*j] < x)))
        ++*j;
}

/* The highest pixel of an island, if no other peak can be a source, as is the case for nearly all
 * islands: none passes the threshold and is `contrast` above the lowest pixel. Else NONE. */
static int32_t find_only_source(const struct island_pixels *p, double threshold, double contrast) {
    int64_t highest = 0, before = 0, beside = 0, after = 0;
    double lowest = INFINITY;
    for (int64_t i = 0; i < p->n; i++) {
        highest = is_higher(p, (int32_t)i, (int32_t)highest) ? i : highest;
        lowest = fmin(lowest, island_above(p, i));
    }
    for (int64_t i = 0; i < p->n; i++) {
        const double above = island_above(p, i), rms = p->rms[i];
        const int64_t x = (int64_t)p->x[i] - 1, y = p->y[i];
        if (i == highest || !(above > threshold * rms && above - lowest >= contrast * rms))
            continue;
        advance(p, y - 1, x, &before);
        advance(p, y, x, &beside);
        advance(p, y + 1, x, &after);
        if (!is_higher_in_row(p, i, before, y - 1, x) && !is_higher_in_row(p, i, beside, y, x) &&
            !is_higher_in_row(p, i, after, y + 1, x))
            return NONE;
    }
    return (int32_t)highest;
}

/* --- several sources --- */

/* Merges the sorted ranges [first, middle) and [middle, end) of `from`. */
static void merge(const struct island_pixels *p, const int32_t *from, int64_t first, int64_t middle,
                  int64_t end, int32_t *to) {
    for (int64_t i = first, j = middle, k = first; k < end; k++)
        to[k] = j == end || (i < middle && is_higher(p, from[i], from[j])) ? from[i++] : from[j++];
}

/* Sorts the pixels; `scratch` has room for as many. */
static void sort_pixels(const struct division *d, int32_t *scratch) {
    const int64_t n = d->pixels->n;
    int32_t *from = d->order, *to = scratch;
    for (int64_t i = 0; i < n; i++)
        from[i] = (int32_t)i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t first = 0; first < n; first += 2 * width) {
            const int64_t middle = first + width < n ? first + width : n;
            merge(d->pixels, from, first, middle, middle + width < n ? middle + width : n, to);
        }
        int32_t *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != d->order)
        memcpy(d->order, from, (size_t)n * sizeof *from);
}

/* Sets for each pixel the first one in row y + dy that is at x - 1 or later, or in a later row. */
static void find_touching(const struct island_pixels *p, int dy, int32_t *first) {
    int64_t j = 0;
    for (int64_t i = 0; i < p->n; i++) {
        advance(p, (int64_t)p->y[i] + dy, (int64_t)p->x[i] - 1, &j);
        first[i] = (int32_t)j;
    }
}

enum { MOST_NEIGHBOURS = 8 };

/* Adds the pixels of [first, ...) that are in row y, up to column x, to those that touch. */
static int add_row(const struct island_pixels *p, int64_t first, int64_t y, int64_t x,
                   int32_t *touching, int n) {
    for (int64_t j = first; j < p->n && p->y[j] == y && p->x[j] <= x; j++)
        touching[n++] = (int32_t)j;
    return n;
}

/* The pixels that touch pixel i, at corners too; returns their number. */
static int find_neighbours(const struct division *d, int32_t i, int32_t *touching) {
    const struct island_pixels *p = d->pixels;
    const int64_t x = p->x[i], y = p->y[i];
    int n = add_row(p, d->above[i], y - 1, x + 1, touching, 0);
    if (i > 0 && p->y[i - 1] == y && p->x[i - 1] == x - 1)
        touching[n++] = i - 1;
    if (i + 1 < p->n && p->y[i + 1] == y && p->x[i + 1] == x + 1)
        touching[n++] = i + 1;
    return add_row(p, d->below[i], y + 1, x + 1, touching, n);
}

/* Adds the next pixel to the highest branch that it touches, where the others end. */
static void add_pixel(struct division *d, int32_t pixel, double threshold, double contrast) {
    const struct island_pixels *p = d->pixels;
    int32_t root[MOST_NEIGHBOURS], highest = pixel;
    const int n = find_neighbours(d, pixel, root);
    for (int k = 0; k < n; k++) {
        root[k] = d->parent[root[k]] == NOT_YET ? pixel : forest_root_32(d->parent, root[k]);
        highest = is_higher(p, root[k], highest) ? root[k] : highest;
    }
    d->parent[pixel] = d->branch[pixel] = highest;
    d->into[pixel] = pixel; /* counts only if the pixel begins a branch */
    for (int k = 0; k < n; k++) {
        const int32_t peak = root[k];
        if (peak == highest || peak == pixel || d->parent[peak] != peak)
            continue;
        const double above = island_above(p, peak), rms = p->rms[peak];
        const bool is_source =
            above - island_above(p, pixel) >= contrast * rms && above > threshold * rms;
        d->into[peak] = is_source ? peak : highest;
        d->parent[peak] = highest;
    }
}

/* Numbers the sources in falling order, and gives each pixel its source's number. */
static void number_sources(const struct division *d, struct deblended *result) {
    const int64_t n = d->pixels->n;
    int32_t *number = d->parent; /* not needed any more */
    for (int64_t k = 0; k < n; k++) {
        const int32_t pixel = d->order[k];
        if (d->branch[pixel] != pixel || d->into[pixel] != pixel)
            continue;
        number[pixel] = result->n;
        result->peak[result->n++] = pixel;
    }
    for (int64_t i = 0; i < n; i++)
        result->source_of[i] = number[forest_root_32(d->into, d->branch[i])];
}

/* Sets the snr of each source and of the island. */
static void find_snr(const struct island_pixels *p, double threshold, struct deblended *result) {
    for (int32_t k = 0; k < result->n; k++)
        result->snr[k] = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double *const snr = &result->snr[result->source_of[i]];
        *snr = fmax(*snr, island_above(p, i) / p->rms[i]);
    }
    for (int32_t k = 0; k < result->n; k++)
        result->island_snr = fmax(result->island_snr, result->snr[k]);
    if (result->snr[0] < threshold) /* the highest peak, which need not pass it */
        result->snr[0] = result->island_snr;
}

/* `memory` has room for seven numbers a pixel. */
static void divide(const struct island_pixels *p, double threshold, double contrast,
                   int32_t *memory, struct deblended *result) {
    const int64_t n = p->n;
    struct division d = {
        p, memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n, memory + 5 * n};
    sort_pixels(&d, memory + 6 * n);
    find_touching(p, -1, d.above);
    find_touching(p, 1, d.below);
    for (int64_t i = 0; i < n; i++)
        d.parent[i] = NOT_YET;
    for (int64_t k = 0; k < n; k++)
        add_pixel(&d, d.order[k], threshold, contrast);
    number_sources(&d, result);
}

/* Allocates the members of an island of one source, all of whose pixels belong to it. */
static bool set_one(struct deblended *result, int64_t n, int32_t peak, struct arena *arena) {
    result->n = 1;
    result->source_of = arena_take(arena, (size_t)n, sizeof *result->source_of);
    result->peak = arena_take(arena, 1, sizeof *result->peak);
    result->snr = arena_take(arena, 1, sizeof *result->snr);
    if (!result->source_of || !result->peak || !result->snr)
        return false;
    memset(result->source_of, 0, (size_t)n * sizeof *result->source_of);
    result->peak[0] = peak;
    return true;
}

bool deblend(const struct island_pixels *pixels, double threshold, double contrast,
             struct arena *arena, struct deblended *result) {
    const size_t n = (size_t)pixels->n;
    *result = (struct deblended){0};
    if (pixels->n >= INT32_MAX)
        return false;
    const int32_t highest = find_only_source(pixels, threshold, contrast);
    if (highest != NONE) {
        const bool ok = set_one(result, pixels->n, highest, arena);
        if (ok)
            find_snr(pixels, threshold, result);
        return ok;
    }
    int32_t *memory = malloc(7 * n * sizeof *memory);
    result->source_of = memory ? arena_take(arena, n, sizeof *result->source_of) : NULL;
    result->peak = memory ? arena_take(arena, n, sizeof *result->peak) : NULL;
    const bool ok = result->source_of && result->peak;
    if (ok)
        divide(pixels, threshold, contrast, memory, result);
    free(memory);
    result->snr = ok ? arena_take(arena, (size_t)result->n, sizeof *result->snr) : NULL;
    if (result->snr)
        find_snr(pixels, threshold, result);
    return result->snr;
}
