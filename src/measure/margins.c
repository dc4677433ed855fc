#include "measure/margins.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "cpu/noise_maps.h"
#include "input/chunks.h"

/* --- finding --- */

/* Runs of one row, in the order of their first pixels. */
struct row {
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
                      int64_t more, int64_t width, struct row *row) {
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
static void join_runs(struct row *row) {
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

static bool add_run(struct margin *m, int64_t *capacity, int64_t y, int64_t x0, int64_t x1) {
    if (x0 > x1)
        return true;
    if (!GROW(m->runs, *capacity, m->n_runs + 1))
        return false;
    m->runs[m->n_runs++] = (struct margin_run){{(int32_t)y, (int32_t)x0, (int32_t)x1}, m->n_pixels};
    m->n_pixels += x1 - x0 + 1;
    return true;
}

/* Adds a row without the island's own runs, each of which is within one of the row's. */
static bool add_without(const struct run *own, int64_t n_own, const struct row *row,
                        struct margin *m, int64_t *capacity) {
    int64_t k = 0;
    bool ok = true;
    for (int64_t i = 0; ok && i < row->n; i++) {
        int64_t x = row->runs[i].x0;
        for (; ok && k < n_own && own[k].x0 <= row->runs[i].x1; k++) {
            ok = add_run(m, capacity, row->runs[i].y, x, (int64_t)own[k].x0 - 1);
            x = (int64_t)own[k].x1 + 1;
        }
        ok = ok && add_run(m, capacity, row->runs[i].y, x, row->runs[i].x1);
    }
    return ok;
}

/* Adds the margin in row y. */
static bool add_row(const struct run *runs, const struct row_index *rows, double radius,
                    int64_t width, int64_t y, struct row *row, struct margin *m,
                    int64_t *capacity) {
    const int64_t reach = (int64_t)radius;
    row->n = 0;
    for (int64_t dy = -reach; dy <= reach; dy++) {
        const int64_t more = (int64_t)sqrt(radius * radius - (double)(dy * dy));
        if (!widen_row(runs, rows, y, dy, more, width, row))
            return false;
    }
    join_runs(row);
    const bool has_own = y >= rows->y_min && y <= rows->y_max;
    const int64_t first = has_own ? rows->first[y - rows->y_min] : 0;
    const int64_t end = has_own ? rows->first[y - rows->y_min + 1] : 0;
    return add_without(runs + first, end - first, row, m, capacity);
}

bool margin_find(const struct run *island, int64_t n_runs, double radius, int64_t width,
                 int64_t height, struct margin *margin) {
    struct row_index rows;
    struct row row = {0};
    int64_t capacity = 0;
    radius = radius < MARGIN_MOST ? radius : MARGIN_MOST;
    *margin = (struct margin){0};
    bool ok = index_rows(island, n_runs, &rows);
    for (int64_t y = rows.y_min - (int64_t)radius; ok && y <= rows.y_max + (int64_t)radius; y++)
        if (y >= 0 && y < height)
            ok = add_row(island, &rows, radius, width, y, &row, margin, &capacity);
    free(rows.first);
    free(row.runs);
    return ok;
}

void margin_clear(struct margin *margin) {
    free(margin->runs);
    free(margin->values);
    free(margin->given);
    *margin = (struct margin){0};
}

/* --- reading --- */

struct reading {
    const struct pixel_source *source;
    const struct noise_sources *maps;
    struct margin *margins;
    int64_t n;
    int32_t *last;        /* the last row of each margin, or of an earlier one that ends later */
    struct error *errors; /* of each worker */
    bool *has_failed;
};

/* The first of n things, which are in order, that is not before row y. */
static int64_t first_not_before(const void *things, int64_t n, int64_t y,
                                bool (*is_before)(const void *things, int64_t i, int64_t y)) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (is_before(things, middle, y))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether a margin begins before row y. One without a run is that of an island as large as the
 * image, which is the only one. */
static bool begins_before(const void *margins, int64_t i, int64_t y) {
    const struct margin *m = (const struct margin *)margins + i;
    return m->n_runs == 0 || m->runs[0].run.y < y;
}

/* Whether a margin, and all earlier ones, end before row y: `last` of a reading. */
static bool ends_before(const void *last, int64_t i, int64_t y) {
    return ((const int32_t *)last)[i] < y;
}

static bool run_is_before(const void *runs, int64_t i, int64_t y) {
    return ((const struct margin_run *)runs)[i].run.y < y;
}

/* The margins [begin, end) that may have pixels in rows y0 ... y1. */
struct margin_range {
    int64_t begin, end, y0, y1;
};

static struct margin_range margins_in(const struct reading *r, int64_t first, int64_t count) {
    const int64_t y0 = first / r->source->width, y1 = (first + count - 1) / r->source->width;
    return (struct margin_range){first_not_before(r->last, r->n, y0, ends_before),
                                 first_not_before(r->margins, r->n, y1 + 1, begins_before), y0, y1};
}

static bool is_wanted(void *context, int64_t first, int64_t count) {
    const struct margin_range range = margins_in(context, first, count);
    return range.begin < range.end;
}

/* Copies what a chunk has of a run. given is NULL, or beside the pixels. */
static void copy_run(const struct reading *r, const struct chunk *chunk,
                     const struct noise_given *given, const struct margin_run *run,
                     struct margin *m) {
    const int64_t start = run->run.y * r->source->width, end = chunk->first + chunk->count;
    const int64_t from = start + run->run.x0, to = start + run->run.x1;
    for (int64_t i = from > chunk->first ? from : chunk->first; i <= to && i < end; i++) {
        const int64_t at = run->first + i - from;
        m->values[at] = pixel_value(chunk->pixels, i - chunk->first, r->source->swapped);
        if (given)
            m->given[at] = given[i - chunk->first];
    }
}

/* Copies what a chunk has of the margins. */
static void copy_values(const struct reading *r, const struct chunk *chunk,
                        const struct noise_given *given) {
    const struct margin_range range = margins_in(r, chunk->first, chunk->count);
    for (int64_t k = range.begin; k < range.end; k++) {
        struct margin *m = &r->margins[k];
        for (int64_t i = first_not_before(m->runs, m->n_runs, range.y0, run_is_before);
             i < m->n_runs && m->runs[i].run.y <= range.y1; i++)
            copy_run(r, chunk, given, &m->runs[i], m);
    }
}

static bool read_chunk(void *context, int worker, const struct chunk *chunk) {
    const struct reading *r = context;
    struct noise_maps maps = {0};
    bool ok = true;
    if (noise_maps_exist(r->maps)) {
        ok = noise_maps_make(&maps, r->maps, chunk->count);
        if (ok &&
            noise_maps_read(&maps, chunk->first, chunk->count, &r->errors[worker]) != SRCFIND_OK) {
            r->has_failed[worker] = true;
            ok = false;
        }
    }
    if (ok)
        copy_values(r, chunk, maps.given);
    noise_maps_clear(&maps);
    return ok;
}

static bool allocate_values(struct margin *m, bool has_maps) {
    m->values = malloc((size_t)m->n_pixels * sizeof *m->values + 1);
    m->given = has_maps ? malloc((size_t)m->n_pixels * sizeof *m->given + 1) : NULL;
    return m->values && (m->given || !has_maps);
}

static bool allocate(struct reading *r, int n_workers) {
    int32_t last = -1;
    r->last = malloc((size_t)r->n * sizeof *r->last + 1);
    r->errors = calloc((size_t)n_workers, sizeof *r->errors);
    r->has_failed = calloc((size_t)n_workers, sizeof *r->has_failed);
    bool ok = r->last && r->errors && r->has_failed;
    for (int64_t k = 0; ok && k < r->n; k++) {
        struct margin *m = &r->margins[k];
        if (m->n_runs > 0 && m->runs[m->n_runs - 1].run.y > last)
            last = m->runs[m->n_runs - 1].run.y;
        r->last[k] = last;
        ok = allocate_values(m, noise_maps_exist(r->maps));
    }
    return ok;
}

static enum srcfind_status read_margins(struct reading *r, struct threads *threads,
                                        struct error *error) {
    const int n_workers = threads_count(threads);
    const struct chunk_work work = {.work = read_chunk, .wanted = is_wanted, .context = r};
    const enum srcfind_status status = chunks_run(r->source, threads, n_workers, &work, error);
    for (int i = 0; status != SRCFIND_OK && i < n_workers; i++) {
        if (r->has_failed[i]) {
            *error = r->errors[i];
            return SRCFIND_ERROR_INPUT;
        }
    }
    return status;
}

enum srcfind_status margins_read(struct margin *margins, int64_t n,
                                 const struct pixel_source *source,
                                 const struct noise_sources *maps, struct threads *threads,
                                 struct error *error) {
    struct reading r = {.source = source, .maps = maps, .margins = margins, .n = n};
    const enum srcfind_status status = allocate(&r, threads_count(threads))
                                           ? read_margins(&r, threads, error)
                                           : error_memory(error, "reading pixels again");
    free(r.last);
    free(r.errors);
    free(r.has_failed);
    return status;
}
