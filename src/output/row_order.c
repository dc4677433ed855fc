#include "output/row_order.h"

#include <math.h>
#include <stdlib.h>

double row_order_key(const struct srcfind_source *row, int sort) {
    switch (sort) {
    case SORT_FLUX:
        return -row->total_flux;
    case SORT_SNR:
        return -row->snr;
    case SORT_RA:
        return row->lon;
    default:
        return row->lat;
    }
}

int row_order_compare(double a, double b) {
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

struct keyed_row {
    double key;
    int64_t row;
};

static int by_key(const void *a, const void *b) {
    const struct keyed_row *x = a, *y = b;
    const int order = row_order_compare(x->key, y->key);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

bool row_order_make(const struct srcfind_source *rows, int64_t n, int sort, int64_t **order) {
    *order = NULL;
    if (sort == SORT_NOT_GIVEN)
        return true;
    struct keyed_row *keyed = malloc((size_t)n * sizeof *keyed + 1);
    *order = malloc((size_t)n * sizeof **order + 1);
    const bool ok = keyed && *order;
    for (int64_t i = 0; ok && i < n; i++)
        keyed[i] = (struct keyed_row){row_order_key(&rows[i], sort), i};
    if (ok)
        qsort(keyed, (size_t)n, sizeof *keyed, by_key);
    for (int64_t i = 0; ok && i < n; i++)
        (*order)[i] = keyed[i].row;
    free(keyed);
    return ok;
}
