#include "api/negative.h"

#include <math.h>
#include <stdlib.h>

static struct pixel_source negated_source(struct changed *negated,
                                          const struct pixel_source *stored) {
    return changed_source(negated, stored, pixel_change_make(NAN, true, stored->swapped));
}

void negative_make(struct negated_image *n, const struct pixel_source *source,
                   const struct detection *detection) {
    if (source)
        n->source = negated_source(&n->pixels, source);
    n->detection = *detection;
    n->detection.background = -detection->background;
    if (!detection->maps.background)
        return;
    n->background_source = negated_source(&n->background, detection->maps.background);
    n->detection.maps.background = &n->background_source;
}

/* 0 minus a value, and not its negative, so that 0 stays 0 and does not become -0. */
static void turn_back(struct srcfind_source *row) {
    double *const values[] = {&row->isl_total_flux, &row->total_flux, &row->peak_flux,
                              &row->pixel_sum,      &row->isl_mean,   &row->snr,
                              &row->pix_snr};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i] = 0 - *values[i];
    row->flags |= SRCFIND_FLAG_NEGATIVE;
}

/* Adds the Gaussians, whose peaks are negative in the image. */
static bool add_gaussians(struct srcfind_catalogue *catalogue, const struct sources *sources) {
    const int64_t n_before = catalogue->n_gaussians, n = sources->n_gaussians;
    struct gaussian *all = realloc(catalogue->gaussians, (size_t)(n_before + n + 1) * sizeof *all);
    if (!all)
        return false;
    catalogue->gaussians = all;
    for (int64_t i = 0; i < n; i++) {
        all[n_before + i] = sources->gaussians[i];
        all[n_before + i].peak = 0 - all[n_before + i].peak;
    }
    catalogue->n_gaussians += n;
    return true;
}

/* Appends rows, of which there may be none, and turns them back. n_sources, n_islands: those that
 * the catalogue has before. False where memory ran out. */
static bool add_rows(struct srcfind_source **rows, int64_t *n_rows,
                     const struct srcfind_source *more, int64_t n, int64_t n_sources,
                     int64_t n_islands) {
    struct srcfind_source *all = realloc(*rows, (size_t)(*n_rows + n + 1) * sizeof *all);
    if (!all)
        return false;
    *rows = all;
    for (int64_t i = 0; i < n; i++) {
        struct srcfind_source *row = &all[(*n_rows)++];
        *row = more[i];
        row->id += n_sources;
        row->island_id += n_islands;
        turn_back(row);
    }
    return true;
}

bool negative_add(struct srcfind_catalogue *catalogue, const struct sources *sources) {
    const int64_t n_before = catalogue->n_sources;
    const int64_t n_islands = n_before > 0 ? catalogue->sources[n_before - 1].island_id : 0;
    if (!add_gaussians(catalogue, sources) ||
        !labels_append(&catalogue->labels[LABEL_ISLANDS], &sources->labels[LABEL_ISLANDS],
                       n_islands) ||
        !labels_append(&catalogue->labels[LABEL_SOURCES], &sources->labels[LABEL_SOURCES],
                       n_before) ||
        !add_rows(&catalogue->parts, &catalogue->n_parts, sources->parts, sources->n_parts,
                  n_before, n_islands) ||
        !add_rows(&catalogue->sources, &catalogue->n_sources, sources->rows, sources->n, n_before,
                  n_islands))
        return false;
    catalogue->n_negative = sources->n;
    return true;
}
