#include "measure/margins.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"

/* Runs of one row, in the order of their first pixels; or of a margin. */
struct run_list {
    struct run *runs;
    int64_t n, capacity;
};

/* Rows of runs [first[y - y_min], first[y - y_min + 1]) of an island. */
struct row_index {
    int64_t *first;
    int32_t y_min, y_max;
};

static bool index_rows(const struct run *runs, int64_t n, struct row_index *rows) {
    rows->y_min = runs[0].y;
    rows->y_max = runs[n - 1].y;
    rows->first = malloc(((size_t)(rows->y_max - rows->y_min) + 2) * sizeof *rows->first);
    if (!rows->first)
        return false;
    int64_t i = 0;
    for (int64_t y = rows->y_min; y <= (int64_t)rows->y_max + 1; y++) {
        while (i < n && runs[i].y < y)
            i++;
        rows->first[y - rows->y_min] = i;
    }
    return true;
}

static int compare_runs(const void *a, const void *b) {
    const struct run *left = a, *right = b;
    return (left->x0 > right->x0) - (left->x0 < right->x0);
}

/* Adds the runs of the island's row y + dy, each made longer by `more` pixels on both sides. */
static bool widen_row(const struct run *runs, const struct row_index *rows, int64_t y, int64_t dy,
                      int64_t more, int64_t width, struct run_list *row) {
    if (y + dy < rows->y_min || y + dy > rows->y_max)
        return true;
    const int64_t *first = rows->first + (y + dy - rows->y_min);
    if (first[0] >= first[1])
        return true;
    if (!GROW(row->runs, row->capacity, row->n + first[1] - first[0]))
        return false;
    for (int64_t i = first[0]; i < first[1]; i++) {
        const int64_t x0 = runs[i].x0 - more, x1 = runs[i].x1 + more;
        row->runs[row->n++] = (struct run){(int32_t)y, (int32_t)(x0 > 0 ? x0 : 0),
                                           (int32_t)(x1 < width ? x1 : width - 1)};
    }
    return true;
}

/* Joins runs that overlap or touch. */
static void join_runs(struct run_list *row) {
    int64_t n = 0;
    qsort(row->runs, (size_t)row->n, sizeof *row->runs, compare_runs);
    for (int64_t i = 0; i < row->n; i++) {
        const struct run run = row->runs[i];
        if (n > 0 && run.x0 <= row->runs[n - 1].x1 + (int64_t)1)
            row->runs[n - 1].x1 = run.x1 > row->runs[n - 1].x1 ? run.x1 : row->runs[n - 1].x1;
        else
            row->runs[n++] = run;
    }
    row->n = n;
}

static bool add_run(struct run_list *list, int64_t y, int64_t x0, int64_t x1) {
    if (x0 > x1)
        return true;
    if (!GROW(list->runs, list->capacity, list->n + 1))
        return false;
    list->runs[list->n++] = (struct run){(int32_t)y, (int32_t)x0, (int32_t)x1};
    return true;
}

/* Adds a row without the island's own runs, each of which is within one of the row's. */
static bool add_without(const struct run *island, int64_t n_island, const struct run_list *row,
                        struct run_list *margin) {
    int64_t k = 0;
    bool ok = true;
    for (int64_t i = 0; ok && i < row->n; i++) {
        int64_t x = row->runs[i].x0;
        for (; ok && k < n_island && island[k].x0 <= row->runs[i].x1; k++) {
            ok = add_run(margin, row->runs[i].y, x, (int64_t)island[k].x0 - 1);
            x = (int64_t)island[k].x1 + 1;
        }
        ok = ok && add_run(margin, row->runs[i].y, x, row->runs[i].x1);
    }
    return ok;
}

/* Adds the margin in row y. */
static bool add_row(const struct run *runs, const struct row_index *rows, double radius,
                    int64_t width, int64_t y, struct run_list *row, struct run_list *margin) {
    const int64_t reach = (int64_t)radius;
    row->n = 0;
    for (int64_t dy = -reach; dy <= reach; dy++) {
        const int64_t more = (int64_t)sqrt(radius * radius - (double)(dy * dy));
        if (!widen_row(runs, rows, y, dy, more, width, row))
            return false;
    }
    join_runs(row);
    const bool has_island = y >= rows->y_min && y <= rows->y_max;
    const int64_t first = has_island ? rows->first[y - rows->y_min] : 0;
    const int64_t end = has_island ? rows->first[y - rows->y_min + 1] : 0;
    return add_without(runs + first, end - first, row, margin);
}

bool margin_find(const struct run *island, int64_t n_runs, double radius, int64_t width,
                 int64_t height, struct arena *arena, struct margin *margin) {
    struct row_index rows;
    struct run_list row = {0}, list = {0};
    radius = radius < MARGIN_MOST ? radius : MARGIN_MOST;
    bool ok = index_rows(island, n_runs, &rows);
    for (int64_t y = rows.y_min - (int64_t)radius; ok && y <= rows.y_max + (int64_t)radius; y++)
        if (y >= 0 && y < height)
            ok = add_row(island, &rows, radius, width, y, &row, &list);
    *margin = (struct margin){ok ? arena_take(arena, (size_t)list.n, sizeof *margin->runs) : NULL,
                              list.n, 0};
    for (int64_t i = 0; margin->runs && i < list.n; i++) {
        margin->runs[i] = list.runs[i];
        margin->n_pixels += run_length(&list.runs[i]);
    }
    free(list.runs);
    free(rows.first);
    free(row.runs);
    return margin->runs;
}
