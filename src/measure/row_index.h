/* Rows by their position in the image: those near a point, and the nearest one. */
#ifndef ROW_INDEX_H
#define ROW_INDEX_H

#include <math.h>

#include "backend/gaussian.h"
#include "common/threads.h"
#include "srcfind.h"

/* A row and its position. */
struct placed_row {
    double x, y;
    const struct srcfind_source *row;
};

/* Whether a row is nearer to (x, y) than a distance. Most rows at this y are too far in x. */
static inline bool placed_row_is_near(const struct placed_row *row, double x, double y,
                                      double distance) {
    return fabs(row->x - x) < distance && hypot(row->x - x, row->y - y) < distance;
}

/* Rows in the order of y, and of x where this is the same. */
struct row_index {
    struct placed_row *rows;
    int64_t n;
};

/* The rows must outlive the index. Clear the index, also after a failure. */
bool row_index_make(struct row_index *index, const struct srcfind_source *rows, int64_t n,
                    struct threads *threads);
void row_index_clear(struct row_index *index);

/* The number of the first row at y or above; n if there is none. */
int64_t row_index_first(const struct row_index *index, double y);

/* The nearest of the rows within half of the FWHM of a Gaussian of this form around (x, y), that
 * `accepts` accepts; NULL: there is none. Distances are those of the form. */
const struct srcfind_source *
row_index_nearest(const struct row_index *index, const struct tensor *form, double x, double y,
                  bool (*accepts)(const void *context, const struct srcfind_source *row),
                  const void *context);

#endif
