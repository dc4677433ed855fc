/* How the index is made: strips of the image, with some ROWS_A_STRIP rows each, are filled with
 * rows (counting sort), and the rows of a strip are sorted. A sort of all rows of a large image
 * would take longer than most steps that use the index. */
#include "measure/row_index.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"

enum { ROWS_A_STRIP = 8, ROWS_A_SHARE = 4096, STRIPS_A_SHARE = ROWS_A_SHARE / ROWS_A_STRIP };

/* The strips [0, n) of an image, from the lowest row on. */
struct strips {
    double low, a_unit; /* the lowest y; strips a unit of y */
    int64_t n;
    int64_t *first; /* of each strip, the number of its first row; n + 1 */
};

struct making {
    const struct srcfind_source *rows;
    int64_t n;
    struct placed_row *copies, *sorted;
    struct strips strips;
};

static int compare(const void *a, const void *b) {
    const struct placed_row *p = a, *q = b;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->row->id > q->row->id) - (p->row->id < q->row->id);
}

static void copy_share(void *context, int share) {
    const struct making *m = context;
    const int64_t first = (int64_t)share * ROWS_A_SHARE;
    for (int64_t i = first; i < m->n && i < first + ROWS_A_SHARE; i++)
        m->copies[i] = (struct placed_row){m->rows[i].x, m->rows[i].y, &m->rows[i]};
}

/* Makes the strips that the rows are in. False where memory ran out. */
static bool make_strips(struct making *m) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < m->n; i++) {
        low = fmin(low, m->copies[i].y);
        high = fmax(high, m->copies[i].y);
    }
    const double height = high - low;
    struct strips *s = &m->strips;
    *s = (struct strips){.low = low, .n = m->n / ROWS_A_STRIP + 1};
    if (height > 0)
        s->a_unit = (double)(s->n - 1) / height;
    s->first = calloc((size_t)s->n + 1, sizeof *s->first);
    return s->first;
}

static int64_t strip_of(const struct strips *s, const struct placed_row *row) {
    const double strip = (row->y - s->low) * s->a_unit;
    return strip > 0 ? (int64_t)strip : 0;
}

/* Puts the rows in the order of their strips. */
static void place_rows(const struct making *m) {
    const struct strips *s = &m->strips;
    for (int64_t i = 0; i < m->n; i++)
        s->first[strip_of(s, &m->copies[i])]++;
    for (int64_t k = 1; k <= s->n; k++)
        s->first[k] += s->first[k - 1]; /* the end of the strip; each row moves it down */
    for (int64_t i = m->n - 1; i >= 0; i--)
        m->sorted[--s->first[strip_of(s, &m->copies[i])]] = m->copies[i];
}

/* Sorts the rows of some strips. */
static void sort_share(void *context, int share) {
    const struct making *m = context;
    const struct strips *s = &m->strips;
    const int64_t begin = (int64_t)share * STRIPS_A_SHARE;
    for (int64_t k = begin; k < s->n && k < begin + STRIPS_A_SHARE; k++)
        qsort(m->sorted + s->first[k], (size_t)(s->first[k + 1] - s->first[k]), sizeof *m->sorted,
              compare);
}

bool row_index_make(struct row_index *index, const struct srcfind_source *rows, int64_t n,
                    struct threads *threads) {
    *index = (struct row_index){arrays_allocate(n, sizeof *index->rows), n};
    struct making m = {.rows = rows,
                       .n = n,
                       .copies = arrays_allocate(n, sizeof *m.copies),
                       .sorted = index->rows};
    bool ok = m.copies && index->rows;
    if (ok) {
        threads_run(threads, (int)((n + ROWS_A_SHARE - 1) / ROWS_A_SHARE), copy_share, &m);
        ok = make_strips(&m);
    }
    if (ok) {
        place_rows(&m);
        threads_run(threads, (int)((m.strips.n + STRIPS_A_SHARE - 1) / STRIPS_A_SHARE), sort_share,
                    &m);
    }
    free(m.strips.first);
    free(m.copies);
    return ok;
}

void row_index_clear(struct row_index *index) {
    free(index->rows);
    *index = (struct row_index){0};
}

int64_t row_index_first(const struct row_index *index, double y) {
    int64_t first = 0, end = index->n;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (index->rows[middle].y < y)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

const struct srcfind_source *
row_index_nearest(const struct row_index *index, const struct tensor *form, double x, double y,
                  bool (*accepts)(const void *context, const struct srcfind_source *row),
                  const void *context) {
    const struct srcfind_source *nearest = NULL;
    double least = 2 * log(2); /* of the form, where a Gaussian is half of its peak */
    const double height = sqrt(least * tensor_inverse(form).yy);
    for (int64_t i = row_index_first(index, y - height); i < index->n; i++) {
        const struct placed_row *at = &index->rows[i];
        const double dx = at->x - x, dy = at->y - y;
        const double square = form->xx * dx * dx + 2 * form->xy * dx * dy + form->yy * dy * dy;
        if (dy > height)
            break;
        if (square > least || (nearest && square == least) || !accepts(context, at->row))
            continue;
        nearest = at->row;
        least = square;
    }
    return nearest;
}
