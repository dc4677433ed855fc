/* How the index is made: strips of the image, with some ROWS_A_STRIP rows each, are filled with
 * rows (counting sort), and the rows of a strip are sorted. A sort of all rows of a large image
 * would take longer than most steps that use the index. */
#include "measure/row_index.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"

enum { ROWS_A_STRIP = 8 };

/* The strips [0, n) of an image, from the lowest row on. */
struct strips {
    double low, a_unit; /* the lowest y; strips a unit of y */
    int64_t n;
};

static int compare(const void *a, const void *b) {
    const struct placed_row *p = a, *q = b;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->row->id > q->row->id) - (p->row->id < q->row->id);
}

/* Copies the positions of the rows, and makes the strips that they are in. */
static struct strips make_strips(const struct srcfind_source *rows, int64_t n,
                                 struct placed_row *copies) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        copies[i] = (struct placed_row){rows[i].x, rows[i].y, &rows[i]};
        low = fmin(low, rows[i].y);
        high = fmax(high, rows[i].y);
    }
    const double height = high - low;
    struct strips s = {low, 0, n / ROWS_A_STRIP + 1};
    if (height > 0)
        s.a_unit = (double)(s.n - 1) / height;
    return s;
}

static int64_t strip_of(const struct strips *s, const struct placed_row *row) {
    const double strip = (row->y - s->low) * s->a_unit;
    return strip > 0 ? (int64_t)strip : 0;
}

/* Puts the rows in the order of their strips, and of y and x in a strip. False where memory ran
 * out. */
static bool sort_rows(const struct strips *s, const struct placed_row *rows, int64_t n,
                      struct placed_row *sorted) {
    int64_t *first = calloc((size_t)s->n + 1, sizeof *first);
    if (!first)
        return false;
    for (int64_t i = 0; i < n; i++)
        first[strip_of(s, &rows[i])]++;
    for (int64_t k = 1; k <= s->n; k++)
        first[k] += first[k - 1]; /* the end of the strip; each row moves it down */
    for (int64_t i = n - 1; i >= 0; i--)
        sorted[--first[strip_of(s, &rows[i])]] = rows[i];
    for (int64_t k = 0; k < s->n; k++)
        qsort(sorted + first[k], (size_t)(first[k + 1] - first[k]), sizeof *sorted, compare);
    free(first);
    return true;
}

bool row_index_make(struct row_index *index, const struct srcfind_source *rows, int64_t n) {
    struct placed_row *copies = arrays_allocate(n, sizeof *copies);
    *index = (struct row_index){arrays_allocate(n, sizeof *index->rows), n};
    bool ok = copies && index->rows;
    if (ok) {
        const struct strips strips = make_strips(rows, n, copies);
        ok = sort_rows(&strips, copies, n, index->rows);
    }
    free(copies);
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
