#include "api/negative.h"

#include <stdlib.h>

struct detection negative_detection(const struct detection *detection) {
    struct detection negative = *detection;
    negative.background = -detection->background;
    return negative;
}

/* 0 minus a value, and not its negative, so that 0 stays 0 and does not become -0. */
static void turn_back(struct srcfind_source *row) {
    double *const values[] = {&row->isl_total_flux, &row->total_flux, &row->peak_flux,
                              &row->pixel_sum,      &row->isl_mean,   &row->snr};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i] = 0 - *values[i];
    row->flags |= SRCFIND_FLAG_NEGATIVE;
}

bool negative_add(struct srcfind_catalogue *catalogue, const struct srcfind_source *rows,
                  int64_t n) {
    const int64_t n_before = catalogue->n_sources;
    struct srcfind_source *all =
        realloc(catalogue->sources, (size_t)(n_before + n + 1) * sizeof *all);
    if (!all)
        return false;
    catalogue->sources = all;
    for (int64_t i = 0; i < n; i++) {
        struct srcfind_source *row = &all[n_before + i];
        *row = rows[i];
        row->id += n_before;
        row->island_id += n_before;
        turn_back(row);
    }
    catalogue->n_sources += n;
    catalogue->n_negative = n;
    return true;
}
