#include "cpu/islands.h"

#include <stdlib.h>

#include "backend/edges.h"
#include "common/arrays.h"
#include "backend/moments.h"

/* Pixels x0 ... x1 of row y, all above the threshold, the highest of them at x_peak. parent is the
 * number of a run of the same island, never a later one; an island's first run is its own parent.
 */
struct run {
    int32_t y, x0, x1, x_peak;
    const float *values;
    int64_t parent;
};

struct runs {
    struct run *run;
    int64_t n, room;
};

/* Splits what the scan kept (pixels of one row, above a lower threshold) into runs. Values are in
 * the order of the pixels, and so are the runs. */
static bool split(struct runs *runs, const struct scan_run *kept, const float *values,
                  int64_t width, float threshold) {
    const int32_t y = (int32_t)(kept->first / width), x = (int32_t)(kept->first % width);
    for (int64_t i = 0; i < kept->count; i++) {
        const int64_t first = i;
        int64_t peak = i;
        for (; i < kept->count && values[i] >= threshold; i++)
            peak = values[i] > values[peak] ? i : peak;
        if (i == first)
            continue;
        if (!GROW(runs->run, runs->room, runs->n + 1))
            return false;
        runs->run[runs->n] = (struct run){
            y, x + (int32_t)first, x + (int32_t)i - 1, x + (int32_t)peak, values + first, runs->n};
        runs->n++;
    }
    return true;
}

/* The scan's own runs go, since no one needs them any more. */
static bool collect_runs(struct scan *scan, float threshold, struct runs *runs) {
    const int64_t n_pieces = pieces_count(scan->source);
    int64_t n_kept = 0;
    for (int i = 0; i < scan->n_workers; i++)
        n_kept += scan->workers[i].n_runs;
    if (!GROW(runs->run, runs->room, n_kept)) /* mostly as many */
        return false;
    for (int64_t i = 0; i < n_pieces; i++) {
        const struct scan_segment *s = &scan->segments[i];
        const struct scan_worker *w = &scan->workers[s->worker];
        const float *values = w->candidates ? w->candidates + s->first_candidate : NULL;
        for (int64_t j = 0; j < s->n_runs; j++) {
            const struct scan_run *kept = &w->runs[s->first_run + j];
            if (!split(runs, kept, values, scan->source->width, threshold))
                return false;
            values += kept->count;
        }
    }
    for (int i = 0; i < scan->n_workers; i++) {
        struct scan_worker *w = &scan->workers[i];
        free(w->runs);
        w->runs = NULL;
        w->n_runs = w->runs_room = 0;
    }
    return true;
}

/* The first run of the island, with the path to it halved on the way. */
static int64_t root_of(struct run *run, int64_t i) {
    while (run[i].parent != i) {
        run[i].parent = run[run[i].parent].parent;
        i = run[i].parent;
    }
    return i;
}

/* The earlier root wins, so that a root is always its island's first run. */
static void join(struct run *run, int64_t a, int64_t b) {
    a = root_of(run, a);
    b = root_of(run, b);
    if (a < b)
        run[b].parent = a;
    else
        run[a].parent = b;
}

/* Joins the runs of each row with those they touch in the row above, both from left to right; and
 * with the run before, where a piece's end has cut one in two. */
static void link_runs(struct runs *runs, int reach) {
    struct run *run = runs->run;
    int64_t above = 0; /* the first run of the row above that can still touch */
    for (int64_t i = 1; i < runs->n; i++) {
        if (run[i - 1].y == run[i].y && run[i - 1].x1 + 1 == run[i].x0)
            join(run, i - 1, i);
        while (run[above].y < run[i].y - 1 ||
               (run[above].y == run[i].y - 1 && (int64_t)run[above].x1 + reach < run[i].x0))
            above++;
        for (int64_t j = above; run[j].y == run[i].y - 1 && run[j].x0 <= (int64_t)run[i].x1 + reach;
             j++)
            join(run, j, i);
    }
}

/* What tells whether an island counts. */
struct extent {
    int64_t n_pixels;
    int64_t place; /* among those that count; -1 if it does not */
    int32_t x_min, x_max, y_min, y_max, x_peak, y_peak;
    float peak;
    bool edge;
    double per_unit; /* integers of the moments that make 1; where it counts */
};

static void add_run_extent(struct extent *e, const struct run *r) {
    if (e->n_pixels == 0)
        *e = (struct extent){.x_min = r->x0, .x_max = r->x1, .y_min = r->y, .peak = -INFINITY};
    e->n_pixels += r->x1 - r->x0 + 1;
    e->x_min = r->x0 < e->x_min ? r->x0 : e->x_min;
    e->x_max = r->x1 > e->x_max ? r->x1 : e->x_max;
    e->y_max = r->y;
    if (r->values[r->x_peak - r->x0] > e->peak) {
        e->peak = r->values[r->x_peak - r->x0];
        e->x_peak = r->x_peak;
        e->y_peak = r->y;
    }
}

/* Gives each run its root's place among the roots, and returns how many there are. */
static int64_t number_islands(struct runs *runs) {
    int64_t n = 0;
    for (int64_t i = 0; i < runs->n; i++) {
        const int64_t parent = runs->run[i].parent; /* earlier, so numbered already, or i itself */
        runs->run[i].parent = parent == i ? n++ : runs->run[parent].parent;
    }
    return n;
}

/* Finds the extents of all n islands, and returns how many count. */
static int64_t find_extents(const struct runs *runs, const struct scan *scan, float threshold,
                            int64_t min_pixels, struct extent *extents, int64_t n) {
    const int64_t width = scan->source->width;
    int64_t n_counting = 0;
    for (int64_t i = 0; i < runs->n; i++) {
        const struct run *r = &runs->run[i];
        struct extent *e = &extents[r->parent];
        add_run_extent(e, r);
        e->edge |= edges_touch(r->x0, r->x1, r->y, width, scan->source->height, width, scan->blank);
    }
    for (int64_t i = 0; i < n; i++) {
        const bool counts = extents[i].peak >= threshold && extents[i].n_pixels >= min_pixels;
        extents[i].place = counts ? n_counting++ : -1;
    }
    return n_counting;
}

static struct island island_of(const struct extent *e, float threshold) {
    struct island island = {.n_pixels = e->n_pixels,
                            .x_min = e->x_min,
                            .x_max = e->x_max,
                            .y_min = e->y_min,
                            .y_max = e->y_max,
                            .x_peak = e->x_peak,
                            .y_peak = e->y_peak,
                            .peak = e->peak,
                            .edge = e->edge};
    island.unit = moments_unit(&island, threshold);
    island.small = moments_are_small(&island, threshold);
    return island;
}

/* The moments of the islands that count, of n. */
static void add_moments(const struct runs *runs, struct extent *extents, int64_t n, float threshold,
                        struct island *islands) {
    for (int64_t i = 0; i < n; i++) {
        struct extent *e = &extents[i];
        if (e->place < 0)
            continue;
        islands[e->place] = island_of(e, threshold);
        e->per_unit = ldexp(1, -islands[e->place].unit);
    }
    for (int64_t i = 0; i < runs->n; i++) {
        const struct run *r = &runs->run[i];
        const struct extent *e = &extents[r->parent];
        if (e->place < 0)
            continue;
        struct island *island = &islands[e->place];
        const int64_t count = (int64_t)r->x1 - r->x0 + 1;
        const int64_t x = (int64_t)r->x0 - island->x_min, y = (int64_t)r->y - island->y_min;
        if (island->small)
            moments_add_small_row(island, r->values, count, x, y, e->per_unit);
        else
            moments_add_row(island, r->values, count, x, y, e->per_unit);
    }
}

enum srcfind_status islands_find(struct scan *scan, const struct thresholds *thresholds,
                                 const struct detection *detection, struct island_list *list,
                                 struct error *error) {
    struct runs runs = {0};
    struct extent *extents = NULL;
    enum srcfind_status status = error_memory(error, "joining pixels into islands");
    *list = (struct island_list){0};
    if (!collect_runs(scan, thresholds->island, &runs))
        goto cleanup;
    link_runs(&runs, detection->connectivity == 8 ? 1 : 0);
    const int64_t n = number_islands(&runs);
    extents = calloc((size_t)n + 1, sizeof *extents);
    if (!extents)
        goto cleanup;
    pages_ask_for_huge(extents, ((size_t)n + 1) * sizeof *extents);
    const int64_t n_counting =
        find_extents(&runs, scan, thresholds->detection, detection->min_pixels, extents, n);
    list->islands = malloc(((size_t)n_counting + 1) * sizeof *list->islands);
    if (!list->islands)
        goto cleanup;
    pages_ask_for_huge(list->islands, ((size_t)n_counting + 1) * sizeof *list->islands);
    add_moments(&runs, extents, n, thresholds->island, list->islands);
    list->n = n_counting;
    status = SRCFIND_OK;
cleanup:
    free(runs.run);
    free(extents);
    return status;
}
