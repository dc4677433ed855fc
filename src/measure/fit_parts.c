/* How sources and pixels of an island are divided into parts that are fitted together.
 *
 * 1. fit_parts_effort: at most 8 sources a part; 4 in crowded islands and second fits.
 * 2. make_parts halves a range of sources and pixels along the longer side of its peaks, in the
 *    middle of the sources, until each range is small enough. A pixel goes to the side of the
 *    dividing line on which it is. A range is read from the end to which its brightest source is
 *    nearer, so that the parts do not depend on the orientation of the image (direction_of).
 * 3. colour_parts: parts that touch get different colours, by a greedy choice in the order of the
 *    parts. Parts of one colour are fitted at the same time.
 *
 * Always: each source and each pixel is in one part; within a part both are in their order. So
 * neither threads nor memory change the parts, nor does a mirror, but for peaks of one value.
 *
 * Cost: sorting, n log^2 n for n sources; borders are at most two a pixel. */
#include "measure/fit_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    CROWD = 128,        /* an island with more sources is crowded, */
    CROWDED_PIXELS = 8, /* and one with fewer pixels a source, too */
    SMALL_GROUP = 4     /* most sources of a part of a crowded island or a second fit */
};

struct fit_effort fit_parts_effort(const struct island_fit *f) {
    const struct fit_limits few = {12, FIT_LIMITS.tolerance};
    const struct fit_limits fewest = {3, FIT_LIMITS.tolerance};
    const int64_t n = f->deblended->n;
    if (n > FIT_GROUP && (n > CROWD || f->n_inside < CROWDED_PIXELS * n))
        return (struct fit_effort){SMALL_GROUP, fewest};
    if (f->deblended->n_added > 0)
        return (struct fit_effort){SMALL_GROUP, few};
    return n <= FIT_GROUP ? (struct fit_effort){FIT_GROUP, FIT_LIMITS}
                          : (struct fit_effort){FIT_GROUP, few};
}

/* --- dividing --- */

/* Sources and pixels that are still to be divided. */
struct range {
    int64_t first_source, n_sources, first_pixel, n_pixels;
};

/* How a range is read: along x or y, up or down. */
struct direction {
    bool along_y, is_down;
};

/* The place of pixel (x, y) of the image along a direction. */
static int32_t place_along(const struct direction *d, int32_t x, int32_t y) {
    const int32_t at = d->along_y ? y : x;
    return d->is_down ? -at : at;
}

/* The sides of the box of a range's peaks. */
struct sides {
    int32_t low[2], high[2]; /* along x and y */
};

/* Sets x and y of the peak of source i of a range. */
static void peak_of(const struct island_fit *f, const struct range *r, int64_t i, int32_t at[2]) {
    const int32_t pixel = f->deblended->peak[f->parts.sources[r->first_source + i]];
    at[0] = f->island->x[pixel];
    at[1] = f->island->y[pixel];
}

static struct sides sides_of(const struct island_fit *f, const struct range *r) {
    struct sides s = {{INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN}};
    for (int64_t i = 0; i < r->n_sources; i++) {
        int32_t at[2];
        peak_of(f, r, i, at);
        for (int k = 0; k < 2; k++) {
            s.low[k] = at[k] < s.low[k] ? at[k] : s.low[k];
            s.high[k] = at[k] > s.high[k] ? at[k] : s.high[k];
        }
    }
    return s;
}

/* Twice the distance of a peak from the middle of the box, along x or y. */
static int64_t from_middle(const struct sides *s, const int32_t at[2], int k) {
    return 2 * (int64_t)at[k] - s->low[k] - s->high[k];
}

/* The direction in which a range is divided: along the longer side of its peaks, from the end to
 * which its brightest source is nearer. Where that is undecided, the next source decides. So the
 * parts of an image are those of its mirror image, and of the image whose axes are exchanged. */
static struct direction direction_of(const struct island_fit *f, const struct range *r) {
    const struct sides s = sides_of(f, r);
    int64_t longer = ((int64_t)s.high[1] - s.low[1]) - ((int64_t)s.high[0] - s.low[0]);
    int32_t at[2];
    for (int64_t i = 0; i < r->n_sources && longer == 0; i++) {
        peak_of(f, r, i, at);
        longer = llabs(from_middle(&s, at, 1)) - llabs(from_middle(&s, at, 0));
    }
    struct direction d = {longer > 0, false};
    int64_t side = 0;
    for (int64_t i = 0; i < r->n_sources && side == 0; i++) {
        peak_of(f, r, i, at);
        side = from_middle(&s, at, d.along_y);
    }
    d.is_down = side > 0;
    return d;
}

static int compare_sources(const void *a, const void *b) {
    const int32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Two numbers, sorted by the first: the place of a peak along a direction, and its source; or two
 * parts that touch, the later one first. */
struct pair {
    int32_t first, second;
};

static int compare_pairs(const void *a, const void *b) {
    const struct pair *left = a, *right = b;
    return left->first != right->first
               ? (left->first > right->first) - (left->first < right->first)
               : (left->second > right->second) - (left->second < right->second);
}

/* The number of sorted sources in the first half: nearest to n / 2, but not between equal places.
 */
static int64_t find_middle(const struct pair *sorted, int64_t n) {
    for (int64_t step = 0; step < n; step++) {
        const int64_t left = n / 2 - step, right = n / 2 + step;
        if (left > 0 && sorted[left - 1].first < sorted[left].first)
            return left;
        if (right < n && sorted[right - 1].first < sorted[right].first)
            return right;
    }
    return n / 2;
}

/* Moves the pixels before `twice` / 2 before the others, both in their order; returns their number.
 * scratch has room for all pixels. */
static int64_t divide_pixels(struct island_fit *f, const struct range *r, const struct direction *d,
                             int64_t twice, int32_t *scratch) {
    int64_t n_first = 0, n_second = 0;
    int32_t *const order = f->parts.order + r->first_pixel;
    for (int64_t i = 0; i < r->n_pixels; i++) {
        const struct fit_pixel *p = &f->pixels[order[i]];
        if (2 * (int64_t)place_along(d, p->x + f->x, p->y + f->y) < twice)
            order[n_first++] = order[i];
        else
            scratch[n_second++] = order[i];
    }
    memcpy(order + n_first, scratch, (size_t)n_second * sizeof *order);
    return n_first;
}

/* Divides a range in two at the middle of its sources; *first has its brightest one, but where that
 * is in the middle. The sources of a range are in their order, the brightest first. */
static void divide_range(struct island_fit *f, const struct range *r, struct pair *sorted,
                         int32_t *scratch, struct range *first, struct range *second) {
    const struct direction d = direction_of(f, r);
    int32_t *const sources = f->parts.sources + r->first_source;
    for (int64_t i = 0; i < r->n_sources; i++) {
        int32_t at[2];
        peak_of(f, r, i, at);
        sorted[i] = (struct pair){place_along(&d, at[0], at[1]), sources[i]};
    }
    qsort(sorted, (size_t)r->n_sources, sizeof *sorted, compare_pairs);
    const int64_t n = find_middle(sorted, r->n_sources);
    for (int64_t i = 0; i < r->n_sources; i++)
        sources[i] = sorted[i].second;
    qsort(sources, (size_t)n, sizeof *sources, compare_sources);
    qsort(sources + n, (size_t)(r->n_sources - n), sizeof *sources, compare_sources);
    const int64_t twice = (int64_t)sorted[n - 1].first + sorted[n].first;
    const int64_t n_first = divide_pixels(f, r, &d, twice, scratch);
    *first = (struct range){r->first_source, n, r->first_pixel, n_first};
    *second = (struct range){r->first_source + n, r->n_sources - n, r->first_pixel + n_first,
                             r->n_pixels - n_first};
}

static void add_part(struct island_fit *f, const struct range *r) {
    for (int64_t i = 0; i < r->n_pixels; i++)
        f->parts.part_of[f->parts.order[r->first_pixel + i]] = (int32_t)f->parts.n;
    f->parts.part[f->parts.n++] =
        (struct fit_part){r->first_source, r->n_sources, r->first_pixel, r->n_pixels, 0};
}

/* Divides all sources into parts. ranges has room for one range a source. */
static void make_parts(struct island_fit *f, struct range *ranges, struct pair *sorted,
                       int32_t *scratch) {
    const int64_t most = fit_parts_effort(f).group;
    int64_t n = 1;
    ranges[0] = (struct range){0, f->deblended->n, 0, f->n_pixels};
    while (n > 0) {
        const struct range range = ranges[--n];
        if (range.n_sources <= most) {
            add_part(f, &range);
        } else {
            divide_range(f, &range, sorted, scratch, &ranges[n + 1], &ranges[n]);
            n += 2;
        }
    }
}

/* --- colours --- */

/* Adds the border between two pixels of different parts. Returns the number of borders. */
static int64_t add_border(const struct island_fit *f, int64_t i, int64_t j, struct pair *borders,
                          int64_t n) {
    const int32_t a = f->parts.part_of[i], b = f->parts.part_of[j];
    if (a != b)
        borders[n++] = a > b ? (struct pair){a, b} : (struct pair){b, a};
    return n;
}

/* Lists the borders between pixels of the island and their right and upper neighbours, often more
 * than once. Returns their number, at most two a pixel. */
static int64_t list_borders(const struct island_fit *f, struct pair *borders) {
    const struct fit_pixel *const p = f->pixels;
    int64_t n = 0;
    for (int64_t i = 0, above = 0; i < f->n_inside; i++) {
        if (i + 1 < f->n_inside && p[i + 1].y == p[i].y && p[i + 1].x == p[i].x + 1)
            n = add_border(f, i, i + 1, borders, n);
        while (above < f->n_inside &&
               (p[above].y <= p[i].y || (p[above].y == p[i].y + 1 && p[above].x < p[i].x)))
            above++;
        if (above < f->n_inside && p[above].y == p[i].y + 1 && p[above].x == p[i].x)
            n = add_border(f, i, above, borders, n);
    }
    return n;
}

enum { COLOURS = 64 }; /* far more than needed: parts lie in a plane */

/* Gives each part the first colour that no earlier part has that it touches. Two touching parts
 * that are fitted at the same time would both claim the emission between them, and then both leave
 * it. */
static bool colour_parts(struct island_fit *f) {
    struct pair *borders = malloc((2 * (size_t)f->n_inside + 1) * sizeof *borders);
    if (!borders)
        return false;
    const int64_t n = list_borders(f, borders);
    qsort(borders, (size_t)n, sizeof *borders, compare_pairs);
    f->parts.n_colours = 1;
    for (int64_t k = 0, i = 0; k < f->parts.n; k++) {
        uint64_t taken = 0;
        int32_t colour = 0;
        for (; i < n && borders[i].first == k; i++)
            taken |= 1ULL << f->parts.part[borders[i].second].colour;
        while (colour < COLOURS - 1 && taken >> colour & 1)
            colour++;
        f->parts.part[k].colour = colour;
        f->parts.n_colours = colour + 1 > f->parts.n_colours ? colour + 1 : f->parts.n_colours;
    }
    free(borders);
    return true;
}

bool fit_parts_make(struct island_fit *f, struct arena *arena) {
    const size_t n = (size_t)f->deblended->n;
    struct range *ranges = malloc((n + 1) * sizeof *ranges);
    struct pair *sorted = malloc(n * sizeof *sorted);
    int32_t *scratch = malloc((size_t)f->n_pixels * sizeof *scratch + 1);
    const bool ok = ranges && sorted && scratch;
    for (int64_t i = 0; i < f->n_pixels; i++)
        f->parts.order[i] = (int32_t)i;
    for (int32_t i = 0; i < f->deblended->n; i++)
        f->parts.sources[i] = i;
    if (ok)
        make_parts(f, ranges, sorted, scratch);
    free(ranges);
    free(sorted);
    free(scratch);
    if (!ok || f->parts.n == 1)
        return ok;
    f->others = arena_take(arena, (size_t)f->n_pixels, sizeof *f->others);
    for (int64_t i = 0; f->others && i < f->n_pixels; i++)
        f->others[i] = 0;
    return f->others && colour_parts(f);
}
