#include "output/label_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The smallest scale of the labels above `scale`; infinity if there is none. */
static float next_scale(const struct labels *labels, float scale) {
    float next = INFINITY;
    for (int64_t i = 0; i < labels->n; i++)
        if (labels->runs[i].scale > scale && labels->runs[i].scale < next)
            next = labels->runs[i].scale;
    return next;
}

bool label_rows_make(struct label_rows *rows, const struct labels *labels, int64_t height) {
    int64_t *first = rows->first = calloc((size_t)height + 2, sizeof *first);
    rows->runs = malloc((size_t)labels->n * sizeof *rows->runs + 1);
    if (!first || !rows->runs)
        return false;
    for (int64_t i = 0; i < labels->n; i++)
        first[labels->runs[i].run.y + 2]++;
    for (int64_t y = 0; y < height; y++)
        first[y + 2] += first[y + 1];
    for (float scale = 0; isfinite(scale); scale = next_scale(labels, scale))
        for (int64_t i = 0; i < labels->n; i++) /* first[y + 1] becomes the end of row y */
            if (labels->runs[i].scale == scale)
                rows->runs[first[labels->runs[i].run.y + 1]++] = labels->runs[i];
    return true;
}

void label_rows_clear(struct label_rows *rows) {
    free(rows->first);
    free(rows->runs);
    *rows = (struct label_rows){0};
}

void label_rows_get(const struct label_rows *rows, int64_t x, int64_t y, int64_t n,
                    uint32_t *labels) {
    memset(labels, 0, (size_t)n * sizeof *labels);
    for (int64_t i = rows->first[y]; i < rows->first[y + 1]; i++) {
        const struct run *run = &rows->runs[i].run;
        const int64_t begin = run->x0 > x ? run->x0 : x;
        const int64_t end = run->x1 < x + n ? run->x1 + (int64_t)1 : x + n;
        for (int64_t at = begin; at < end; at++)
            if (labels[at - x] == 0)
                labels[at - x] = (uint32_t)rows->runs[i].label;
    }
}
