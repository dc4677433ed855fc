/* Each row that stays is read once for its key: the places of all rows are in memory, 32 bytes a
 * row, and the rows stay in the spool. */
#include "merge/merged_order.h"

#include <errno.h>
#include <stdlib.h>

#include "output/row_order.h"

/* The key, then the order of the images. */
static int by_key(const void *a, const void *b) {
    const struct merged_place *x = a, *y = b;
    const int order = row_order_compare(x->key, y->key);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Adds the places of the rows of an image that stay behind the first n. False with errno. */
static bool add_places(const struct merged_rows *m, int64_t image, int sort, int64_t *n) {
    const struct merged_image *of = &m->images[image];
    struct srcfind_source rows[MERGED_ROWS_AT_ONCE];
    for (int64_t first = 0; first < of->n; first += MERGED_ROWS_AT_ONCE) {
        const int64_t left = of->n - first,
                      count = left < MERGED_ROWS_AT_ONCE ? left : MERGED_ROWS_AT_ONCE;
        if (!spool_read(m->spool, rows, (size_t)count * sizeof *rows,
                        of->at + first * (int64_t)sizeof *rows))
            return false;
        for (int64_t i = 0; i < count; i++) {
            if (!merged_rows_stays(m, of, first + i))
                continue;
            const double key = row_order_key(&rows[i], sort);
            m->order[*n] = (struct merged_place){key, image, first + i, *n + 1};
            ++*n;
        }
    }
    return true;
}

bool merged_order_make(struct merged_rows *m, int sort) {
    int64_t n = 0;
    m->order = malloc((size_t)m->n * sizeof *m->order + 1);
    errno = ENOMEM;
    if (!m->order)
        return false;
    for (int64_t i = 0; i < m->n_images; i++)
        if (!add_places(m, i, sort, &n))
            return false;
    qsort(m->order, (size_t)n, sizeof *m->order, by_key);
    return true;
}
