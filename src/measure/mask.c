/* How a mask is made of islands, as runs.
 *
 * 1. collect takes the runs of the islands.
 * 2. widen adds, row by row, the runs of all rows within the radius, each longer by half the width
 *    of the disc there, and joins them.
 * 3. fill_holes lists the gaps between runs, and joins gaps that share a column by union-find; gaps
 *    at the edge of the image are joined with the outside. Other gaps are holes, and become runs.
 *
 * Always: runs are in the order of the file, and neither overlap nor touch.
 *
 * Cost: memory for the runs, not for the pixels; time grows with runs x radius. */
#include "measure/mask.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "common/forest.h"

/* Runs in the order of the file. */
struct runs {
    struct run *run;
    int64_t n, capacity;
};

static bool add(struct runs *r, int64_t y, int64_t x0, int64_t x1) {
    if (!GROW(r->run, r->capacity, r->n + 1))
        return false;
    r->run[r->n++] = (struct run){(int32_t)y, (int32_t)x0, (int32_t)x1};
    return true;
}

static int by_position(const void *a, const void *b) {
    const struct run *x = a, *y = b;
    return x->y != y->y ? (x->y > y->y) - (x->y < y->y) : (x->x0 > y->x0) - (x->x0 < y->x0);
}

/* Sorts the runs from `first` on, and makes one of those that overlap or touch. */
static void join(struct runs *r, int64_t first) {
    int64_t n = first;
    if (r->n == first)
        return;
    qsort(r->run + first, (size_t)(r->n - first), sizeof *r->run, by_position);
    for (int64_t i = first + 1; i < r->n; i++) {
        struct run *last = &r->run[n];
        const struct run next = r->run[i];
        if (next.y != last->y || next.x0 > last->x1 + 1)
            r->run[++n] = next;
        else
            last->x1 = next.x1 > last->x1 ? next.x1 : last->x1;
    }
    r->n = n + 1;
}

/* Where the runs of each row begin; [height] is their number. NULL where memory ran out. */
static int64_t *find_rows(const struct runs *r, int64_t height) {
    int64_t *first = calloc((size_t)height + 2, sizeof *first);
    for (int64_t i = 0; first && i < r->n; i++)
        first[r->run[i].y + 1]++;
    for (int64_t y = 0; first && y < height; y++)
        first[y + 1] += first[y];
    return first;
}

static bool collect(const struct labels *islands, const struct mask_shape *s, struct runs *runs) {
    bool ok = true;
    for (int64_t i = 0; ok && i < islands->n; i++) {
        const struct labelled_run *l = &islands->runs[i];
        if (l->label <= s->most_label)
            ok = add(runs, l->run.y, l->run.x0, l->run.x1);
    }
    join(runs, 0);
    return ok;
}

/* --- widening --- */

/* Half of the width of a disc, `dy` rows from its centre. */
static int64_t half_width(int64_t radius, int64_t dy) {
    const double square = (double)(radius * radius - dy * dy);
    return (int64_t)sqrt(square); /* exact: a square below 2^53 has an exact root, if any */
}

/* Adds what the discs around the runs of row `from` have in row y. */
static bool add_discs(struct runs *wide, const struct runs *runs, const int64_t *first,
                      const struct mask_shape *s, int64_t from, int64_t y) {
    const int64_t reach = half_width(s->radius, y - from), last = s->width - 1;
    bool ok = true;
    for (int64_t i = first[from]; ok && i < first[from + 1]; i++) {
        const int64_t x0 = runs->run[i].x0 - reach, x1 = runs->run[i].x1 + reach;
        ok = add(wide, y, x0 > 0 ? x0 : 0, x1 < last ? x1 : last);
    }
    return ok;
}

/* Row by row, so that no more runs than those of one row's discs wait to be joined. */
static bool widen(struct runs *runs, const struct mask_shape *s) {
    struct runs wide = {0};
    int64_t *first = find_rows(runs, s->height);
    bool ok = first;
    for (int64_t y = 0; ok && y < s->height; y++) {
        const int64_t begin = wide.n;
        const int64_t low = y > s->radius ? y - s->radius : 0;
        const int64_t high = y + s->radius < s->height ? y + s->radius : s->height - 1;
        for (int64_t from = low; ok && from <= high; from++)
            ok = add_discs(&wide, runs, first, s, from, y);
        join(&wide, begin);
    }
    free(first);
    free(runs->run);
    *runs = wide;
    return ok;
}

/* --- holes --- */

/* Adds the runs between those of row y. */
static bool add_gaps(struct runs *gaps, const struct runs *runs, const int64_t *first, int64_t y,
                     int64_t width) {
    int64_t x = 0;
    bool ok = true;
    for (int64_t i = first[y]; ok && i < first[y + 1]; i++) {
        if (runs->run[i].x0 > x)
            ok = add(gaps, y, x, runs->run[i].x0 - 1);
        x = runs->run[i].x1 + (int64_t)1;
    }
    return ok && (x == width || add(gaps, y, x, width - 1));
}

/* Joins the gaps of row y with those of the row above that share a column with them. */
static void unite_rows(const struct runs *gaps, const int64_t *first, int64_t y, int64_t *parent) {
    int64_t above = first[y - 1];
    for (int64_t i = first[y]; i < first[y + 1]; i++) {
        const struct run *run = &gaps->run[i];
        while (above < first[y] && gaps->run[above].x1 < run->x0)
            above++;
        for (int64_t k = above; k < first[y] && gaps->run[k].x0 <= run->x1; k++)
            forest_join(parent, i, k);
    }
}

/* Joins gaps that touch each other, and those at the edge of the image with number n: the outside.
 * NULL where memory ran out. */
static int64_t *find_regions(const struct runs *gaps, const struct mask_shape *s) {
    int64_t *first = find_rows(gaps, s->height);
    int64_t *parent = malloc(((size_t)gaps->n + 1) * sizeof *parent);
    for (int64_t i = 0; parent && i <= gaps->n; i++)
        parent[i] = i;
    for (int64_t i = 0; parent && i < gaps->n; i++) {
        const struct run *run = &gaps->run[i];
        if (run->x0 == 0 || run->x1 == s->width - 1 || run->y == 0 || run->y == s->height - 1)
            forest_join(parent, i, gaps->n);
    }
    for (int64_t y = 1; parent && first && y < s->height; y++)
        unite_rows(gaps, first, y, parent);
    const bool ok = first;
    free(first);
    if (!ok) {
        free(parent);
        return NULL;
    }
    return parent;
}

static bool fill_holes(struct runs *runs, const struct mask_shape *s) {
    struct runs gaps = {0};
    int64_t *first = find_rows(runs, s->height);
    bool ok = first;
    for (int64_t y = 0; ok && y < s->height; y++)
        ok = add_gaps(&gaps, runs, first, y, s->width);
    int64_t *parent = ok ? find_regions(&gaps, s) : NULL;
    ok = parent;
    for (int64_t i = 0; ok && i < gaps.n; i++)
        if (forest_root(parent, i) != forest_root(parent, gaps.n))
            ok = add(runs, gaps.run[i].y, gaps.run[i].x0, gaps.run[i].x1);
    join(runs, 0);
    free(parent);
    free(first);
    free(gaps.run);
    return ok;
}

/* --- the mask --- */

bool mask_make(const struct labels *islands, const struct mask_shape *shape, struct labels *mask) {
    struct runs runs = {0};
    bool ok = collect(islands, shape, &runs);
    if (ok && shape->radius > 0)
        ok = widen(&runs, shape);
    if (ok && shape->fills_holes)
        ok = fill_holes(&runs, shape);
    for (int64_t i = 0; ok && i < runs.n; i++)
        ok = labels_add_run(mask, &runs.run[i], 1, 0);
    free(runs.run);
    return ok;
}
