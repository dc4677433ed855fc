#include "measure/psf_points.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "measure/row_index.h"

static const double LEAST_SNR = 15, ALONE = 3; /* the latter in FWHM */
/* Relative errors of areas: by noise, times S/N; and of bright sources, which are no exact
 * Gaussians. */
static const double OF_NOISE = 1.3, OF_SHAPE = 0.03;

/* A row that may be a point, and its free shape. */
struct chosen {
    const struct srcfind_source *row;
    struct tensor moments;
};

static bool is_alone(const struct row_index *index, const struct srcfind_source *row,
                     double distance) {
    for (int64_t i = row_index_first(index, row->y - distance);
         i < index->n && index->rows[i].y < row->y + distance; i++)
        if (placed_row_is_near(&index->rows[i], row->x, row->y, distance) &&
            index->rows[i].row != row)
            return false;
    return true;
}

static bool is_bright(const struct srcfind_source *row) {
    const int64_t bad = SRCFIND_FLAG_EDGE | SRCFIND_FLAG_SINGLE_PIXEL | SRCFIND_FLAG_NOT_FITTED |
                        SRCFIND_FLAG_ARTEFACT;
    return row->snr > LEAST_SNR && row->n_gaussians == 1 && !(row->flags & bad);
}

static int by_snr(const void *a, const void *b) {
    const struct srcfind_source *p = ((const struct chosen *)a)->row;
    const struct srcfind_source *q = ((const struct chosen *)b)->row;
    return p->snr != q->snr ? (p->snr < q->snr) - (p->snr > q->snr)
                            : (p->id > q->id) - (p->id < q->id);
}

/* Lists the rows that may be points, the brightest first. Returns their number. */
static int64_t choose(const struct srcfind_source *rows, int64_t n, const struct tensor *shapes,
                      const struct row_index *index, double distance, struct chosen *chosen) {
    int64_t n_chosen = 0, gaussian = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct srcfind_source *row = &rows[i];
        if (is_bright(row) && isfinite(shapes[gaussian].xx) && is_alone(index, row, distance))
            chosen[n_chosen++] = (struct chosen){row, shapes[gaussian]};
        gaussian += row->flags & SRCFIND_FLAG_NOT_FITTED ? 0 : row->n_gaussians;
    }
    qsort(chosen, (size_t)n_chosen, sizeof *chosen, by_snr);
    return n_chosen;
}

bool psf_points_list(const struct srcfind_source *rows, int64_t n, const struct tensor *shapes,
                     double fwhm, struct psf_point *points, int64_t *n_points) {
    struct chosen *chosen = arrays_allocate(n, sizeof *chosen);
    struct row_index index = {0};
    const bool ok = chosen && row_index_make(&index, rows, n);
    const int64_t n_chosen = ok ? choose(rows, n, shapes, &index, ALONE * fwhm, chosen) : 0;
    *n_points = n_chosen < PSF_MOST_POINTS ? n_chosen : PSF_MOST_POINTS;
    for (int64_t k = 0; k < *n_points; k++)
        points[k] = (struct psf_point){chosen[k].row->x, chosen[k].row->y,
                                       1 / hypot(OF_NOISE / chosen[k].row->snr, OF_SHAPE),
                                       chosen[k].moments};
    row_index_clear(&index);
    free(chosen);
    return ok;
}
