/* Labels of pixels, row by row: for maps. */
#ifndef LABEL_ROWS_H
#define LABEL_ROWS_H

#include "measure/labels.h"

/* Row y has runs[first[y]] ... runs[first[y + 1] - 1], those of smaller scales first: they win
 * where labels of two scales overlap. */
struct label_rows {
    int64_t *first;
    struct labelled_run *runs;
};

/* Sorts labels by row, in an image of this height. Clear the rows also if this fails. */
bool label_rows_make(struct label_rows *rows, const struct labels *labels, int64_t height);
void label_rows_clear(struct label_rows *rows);

/* Gets the labels of the pixels [x, x + n) of row y; 0: none. */
void label_rows_get(const struct label_rows *rows, int64_t x, int64_t y, int64_t n,
                    uint32_t *labels);

#endif
