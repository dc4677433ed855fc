#include "measure/row_index.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"

static int compare(const void *a, const void *b) {
    const struct srcfind_source *const *p = a, *const *q = b;
    if ((*p)->y != (*q)->y)
        return (*p)->y < (*q)->y ? -1 : 1;
    if ((*p)->x != (*q)->x)
        return (*p)->x < (*q)->x ? -1 : 1;
    return (*p)->id < (*q)->id ? -1 : 1;
}

bool row_index_make(struct row_index *index, const struct srcfind_source *rows, int64_t n) {
    *index = (struct row_index){arrays_allocate(n, sizeof *index->rows), n};
    if (!index->rows)
        return false;
    for (int64_t i = 0; i < n; i++)
        index->rows[i] = &rows[i];
    qsort(index->rows, (size_t)n, sizeof *index->rows, compare);
    return true;
}

void row_index_clear(struct row_index *index) {
    free(index->rows);
    *index = (struct row_index){0};
}

int64_t row_index_first(const struct row_index *index, double y) {
    int64_t first = 0, end = index->n;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (index->rows[middle]->y < y)
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
        const struct srcfind_source *row = index->rows[i];
        const double dx = row->x - x, dy = row->y - y;
        const double square = form->xx * dx * dx + 2 * form->xy * dx * dy + form->yy * dy * dy;
        if (dy > height)
            break;
        if (square > least || (nearest && square == least) || !accepts(context, row))
            continue;
        nearest = row;
        least = square;
    }
    return nearest;
}
