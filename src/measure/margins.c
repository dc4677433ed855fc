/* How a margin is found. For each row near the island:
 *
 * 1. merge_row: the island's runs of each row within the radius are made longer on both sides, as
 *    the disc is wide there, and are joined. Runs of a row, and joined ones, are in order.
 * 2. add_without: the island's own pixels are left out.
 *
 * Cost: rows x radius x runs of a row; most islands have one run a row. */
#include "measure/margins.h"

#include <math.h>

/* Runs of one row, in the order of their first pixels, with room for all runs of the island; or of
 * a margin. */
struct run_list {
    struct run *runs;
    int64_t n, capacity;
};

struct finding {
    const struct run *island;
    int64_t n_runs, width, height;
    int64_t reach, half[MARGIN_MOST + 1]; /* half the width of the disc, by |dy| */
    struct run_list row, spare;
    struct arena *arena;
    struct run_list margin;
};

/* --- one row --- */

/* A run of the island, made longer by `more` pixels on both sides. */
static struct run widened(const struct run *run, int64_t more, int64_t width) {
    const int64_t x0 = run->x0 - more, x1 = run->x1 + more;
    return (struct run){0, (int32_t)(x0 > 0 ? x0 : 0), (int32_t)(x1 < width ? x1 : width - 1)};
}

static bool touch(const struct run *a, const struct run *b) {
    return a->x0 <= b->x1 + (int64_t)1 && b->x0 <= a->x1 + (int64_t)1;
}

/* Adds a run to `last`, which it touches. */
static void join(struct run *last, const struct run *run) {
    last->x0 = run->x0 < last->x0 ? run->x0 : last->x0;
    last->x1 = run->x1 > last->x1 ? run->x1 : last->x1;
}

/* Adds a run behind the others of a list, or to the last one. */
static void append(struct run_list *list, const struct run *run) {
    if (list->n > 0 && touch(&list->runs[list->n - 1], run))
        join(&list->runs[list->n - 1], run);
    else
        list->runs[list->n++] = *run;
}

/* Adds n runs of one row of the island to f->row. */
static void merge_row(struct finding *f, const struct run *runs, int64_t n, int64_t more) {
    const struct run_list from = f->row;
    struct run_list to = {f->spare.runs, 0, 0};
    struct run next = widened(&runs[0], more, f->width);
    if (n == 1 && from.n == 1 && touch(&from.runs[0], &next)) {
        join(&f->row.runs[0], &next);
        return;
    }
    for (int64_t i = 0, k = 0; i < from.n || k < n;) {
        if (k >= n || (i < from.n && from.runs[i].x0 <= next.x0)) {
            append(&to, &from.runs[i++]);
            continue;
        }
        append(&to, &next);
        if (++k < n)
            next = widened(&runs[k], more, f->width);
    }
    f->row = to;
    f->spare = from;
}

/* Joins all that is within the radius of row y in f->row. first: the first run of the island that
 * may be. */
static void find_row(struct finding *f, int64_t y, int64_t first) {
    f->row.n = 0;
    for (int64_t i = first, end; i < f->n_runs && f->island[i].y <= y + f->reach; i = end) {
        const int64_t dy = f->island[i].y - y;
        for (end = i + 1; end < f->n_runs && f->island[end].y == f->island[i].y;)
            end++;
        merge_row(f, f->island + i, end - i, f->half[dy < 0 ? -dy : dy]);
    }
}

/* --- the margin --- */

static bool add_run(struct finding *f, int64_t y, int64_t x0, int64_t x1) {
    struct run_list *m = &f->margin;
    if (x0 > x1)
        return true;
    if (m->n == m->capacity) {
        const int64_t more = 2 * m->capacity + 8;
        m->runs =
            arena_extend(f->arena, m->runs, (size_t)m->capacity, (size_t)more, sizeof *m->runs);
        m->capacity = more;
    }
    if (!m->runs)
        return false;
    m->runs[m->n++] = (struct run){(int32_t)y, (int32_t)x0, (int32_t)x1};
    return true;
}

/* Adds f->row without the island's own runs in row y, each of which is within one of them; the
 * island's runs from `own` on are in row y or above. */
static bool add_without(struct finding *f, int64_t y, int64_t own) {
    bool ok = true;
    for (int64_t i = 0; ok && i < f->row.n; i++) {
        const struct run *run = &f->row.runs[i];
        int64_t x = run->x0;
        for (; ok && own < f->n_runs && f->island[own].y == y && f->island[own].x0 <= run->x1;
             own++) {
            ok = add_run(f, y, x, (int64_t)f->island[own].x0 - 1);
            x = (int64_t)f->island[own].x1 + 1;
        }
        ok = ok && add_run(f, y, x, run->x1);
    }
    return ok;
}

/* Finds the margin in all rows. */
static bool find_rows(struct finding *f) {
    const int64_t low = f->island[0].y - f->reach, high = f->island[f->n_runs - 1].y + f->reach;
    int64_t first = 0, own = 0;
    bool ok = true;
    for (int64_t y = low > 0 ? low : 0; ok && y <= high && y < f->height; y++) {
        while (f->island[first].y < y - f->reach)
            first++;
        while (own < f->n_runs && f->island[own].y < y)
            own++;
        find_row(f, y, first);
        ok = add_without(f, y, own);
    }
    return ok;
}

bool margin_find(const struct run *island, int64_t n_runs, double radius, int64_t width,
                 int64_t height, struct arena *arena, struct margin *margin) {
    struct finding f = {
        .island = island, .n_runs = n_runs, .width = width, .height = height, .arena = arena};
    radius = radius < MARGIN_MOST ? radius : MARGIN_MOST;
    f.reach = (int64_t)radius;
    for (int64_t dy = 0; dy <= f.reach; dy++)
        f.half[dy] = (int64_t)sqrt(radius * radius - (double)(dy * dy));
    f.row.runs = arena_take(arena, (size_t)n_runs, sizeof *f.row.runs);
    f.spare.runs = arena_take(arena, (size_t)n_runs, sizeof *f.spare.runs);
    *margin = (struct margin){0};
    if (!f.row.runs || !f.spare.runs || !find_rows(&f))
        return false;
    if (f.margin.runs) /* gives back what is too much */
        arena_extend(arena, f.margin.runs, (size_t)f.margin.capacity, (size_t)f.margin.n,
                     sizeof *f.margin.runs);
    *margin = (struct margin){f.margin.runs, f.margin.n, 0};
    for (int64_t i = 0; i < margin->n_runs; i++)
        margin->n_pixels += run_length(&margin->runs[i]);
    return true;
}
