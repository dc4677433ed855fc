/* How the point-spread function is measured:
 *
 * 1. choose_rows lists bright rows without neighbours (row_index.h), the brightest first.
 * 2. read_and_fit reads the pixels within 1.5 FWHM of each, and fits one Gaussian with a free
 * shape, as the islands are fitted: with pixels weighted by the shape. Rows of the catalogue do not
 * tell the shape, since most of them have the beam's.
 * 3. psf_fit fits a polynomial to their second moments, and clips by their areas: a source far
 * above is resolved.
 *
 * Cost: a fit for each of at most 512 rows. */
#include "measure/psf_points.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/row_index.h"

static const double LEAST_SNR = 15, ALONE = 3, AROUND = 1.5; /* the last two in FWHM */
static const double MOST_WEIGHT = 100;                       /* S/N above which all weigh alike */

/* --- sources --- */

static double fwhm_of(const struct fit_frame *frame) {
    return FIT_FWHM / sqrt(frame->ux * frame->vy);
}

static bool is_alone(const struct row_index *index, const struct srcfind_source *row,
                     double distance) {
    for (int64_t i = row_index_first(index, row->y - distance);
         i < index->n && index->rows[i]->y < row->y + distance; i++)
        if (index->rows[i] != row &&
            hypot(index->rows[i]->x - row->x, index->rows[i]->y - row->y) < distance)
            return false;
    return true;
}

static bool is_bright(const struct srcfind_source *row) {
    const int64_t bad = SRCFIND_FLAG_EDGE | SRCFIND_FLAG_SINGLE_PIXEL | SRCFIND_FLAG_NO_SHAPE |
                        SRCFIND_FLAG_NOT_FITTED | SRCFIND_FLAG_ARTEFACT;
    return row->snr > LEAST_SNR && row->n_gaussians == 1 && !(row->flags & bad);
}

static int by_snr(const void *a, const void *b) {
    const struct srcfind_source *p = *(const struct srcfind_source *const *)a;
    const struct srcfind_source *q = *(const struct srcfind_source *const *)b;
    return p->snr != q->snr ? (p->snr < q->snr) - (p->snr > q->snr)
                            : (p->id > q->id) - (p->id < q->id);
}

/* Lists the rows that may be points: *n of them, to be freed. NULL where memory ran out. */
static const struct srcfind_source **choose_rows(const struct psf_search *s,
                                                 const struct srcfind_source *rows, int64_t n_rows,
                                                 int64_t *n) {
    const struct srcfind_source **chosen = arrays_allocate(n_rows, sizeof *chosen);
    const double distance = ALONE * fwhm_of(s->frame);
    struct row_index index = {0};
    *n = 0;
    if (chosen && row_index_make(&index, rows, n_rows)) {
        for (int64_t i = 0; i < n_rows; i++)
            if (is_bright(&rows[i]) && is_alone(&index, &rows[i], distance))
                chosen[(*n)++] = &rows[i];
        qsort(chosen, (size_t)*n, sizeof *chosen, by_snr);
        *n = *n < PSF_MOST_POINTS ? *n : PSF_MOST_POINTS;
    } else {
        free(chosen);
        chosen = NULL;
    }
    row_index_clear(&index);
    return chosen;
}

/* --- fits --- */

/* Runs and pixels around the chosen rows, and their jobs. */
struct fits {
    const struct srcfind_source **rows;
    int64_t n, n_runs, n_pixels, runs_capacity;
    struct run *runs;
    struct run_set sets[PSF_MOST_POINTS];
    struct run_pixels read;
    struct fit_pixel *pixels;
    struct fit_job jobs[PSF_MOST_POINTS];
};

/* Adds the pixels around a row. */
static bool add_around(const struct psf_search *s, struct fits *f, int64_t k) {
    const struct srcfind_source *row = f->rows[k];
    const double radius = fmax(AROUND * fwhm_of(s->frame), 2);
    const double low = fmax(ceil(row->y - radius), 0);
    const double high = fmin(row->y + radius, (double)(s->height - 1));
    f->sets[k] = (struct run_set){NULL, 0, f->n_pixels};
    for (int64_t y = (int64_t)low; (double)y <= high; y++) {
        const double dy = (double)y - row->y, half = sqrt(fmax(radius * radius - dy * dy, 0));
        const double left = fmax(ceil(row->x - half), 0);
        const double right = fmin(floor(row->x + half), (double)(s->width - 1));
        if (!GROW(f->runs, f->runs_capacity, f->n_runs + 1))
            return false;
        if (left > right)
            continue;
        const struct run run = {(int32_t)y, (int32_t)left, (int32_t)right};
        f->runs[f->n_runs++] = run;
        f->n_pixels += run_length(&run);
        f->sets[k].n++;
    }
    return true;
}

static bool list_pixels(const struct psf_search *s, struct fits *f) {
    for (int64_t k = 0; k < f->n; k++)
        if (!add_around(s, f, k))
            return false;
    const struct run *runs = f->runs;
    for (int64_t k = 0; k < f->n; runs += f->sets[k++].n)
        f->sets[k].runs = runs;
    f->pixels = arrays_allocate(f->n_pixels, sizeof *f->pixels);
    return f->pixels;
}

/* Makes the job of a row from its pixels; those that are blank, or have no noise, are left out. */
static void make_job(const struct psf_search *s, struct fits *f, int64_t k) {
    const struct srcfind_source *row = f->rows[k];
    const struct run_set *set = &f->sets[k];
    const double x = floor(row->x + 0.5), y = floor(row->y + 0.5);
    const double reach = 2 * AROUND * fwhm_of(s->frame);
    struct fit_job *job = &f->jobs[k];
    *job = (struct fit_job){.frame = *s->frame,
                            .first = set->first,
                            .widest = fit_widest(s->frame->ux * reach, s->frame->vy * reach),
                            .limits = FIT_LIMITS};
    job->frame.shapes = FIT_SHAPES_FREE;
    for (int64_t r = 0, i = set->first; r < set->n; r++) {
        for (int64_t at = set->runs[r].x0; at <= set->runs[r].x1; at++, i++) {
            const double value =
                ((double)f->read.value[i] - f->read.background[i]) / f->read.rms[i];
            if (isfinite(value))
                f->pixels[job->first + job->n_pixels++] = (struct fit_pixel){
                    value, (int32_t)((double)at - x), (int32_t)((double)set->runs[r].y - y)};
        }
    }
    job->n_inside = job->n_pixels;
    const double start[FIT_PARAMETERS] = {row->snr,
                                          s->frame->ux * (row->x - x) + s->frame->uy * (row->y - y),
                                          s->frame->vy * (row->y - y),
                                          1,
                                          0,
                                          1};
    memcpy(job->set.value[0], start, sizeof start);
    job->set.is_free[0] = true;
    job->set.n = 1;
}

/* Takes the shape of a job that found one Gaussian. */
static bool take_shape(const struct fits *f, int64_t k, struct psf_point *point) {
    const struct fit_job *job = &f->jobs[k];
    const struct srcfind_source *row = f->rows[k];
    if (!job->is_fitted || job->set.n != 1 || !job->set.is_free[0])
        return false;
    const struct gaussian g = gaussian_of_fit(&job->frame, job->set.value[0], 1, row->x, row->y);
    *point =
        (struct psf_point){row->x, row->y, fmin(row->snr, MOST_WEIGHT), tensor_inverse(&g.form)};
    return true;
}

static enum srcfind_status read_and_fit(const struct psf_search *s, struct fits *f,
                                        struct threads *threads, struct error *error) {
    if (!list_pixels(s, f))
        return error_memory(error, "measuring the point-spread function");
    enum srcfind_status status =
        run_pixels_read(s->pixels, f->sets, f->n, f->n_pixels, threads, &f->read, error);
    for (int64_t k = 0; status == SRCFIND_OK && k < f->n; k++)
        make_job(s, f, k);
    return status == SRCFIND_OK
               ? s->fitter->fit(s->fitter->context, f->pixels, f->jobs, f->n, threads, error)
               : status;
}

/* Whether a fit has too many pixels, as with a beam that is far too wide. */
static bool is_too_wide(const struct fit_frame *frame) {
    const double side = 2 * AROUND * fwhm_of(frame) + 2;
    return !(side * side < FIT_MOST_PIXELS);
}

enum srcfind_status psf_points_find(const struct psf_search *search,
                                    const struct srcfind_source *rows, int64_t n,
                                    struct threads *threads, struct psf_point *points,
                                    int64_t *n_points, struct error *error) {
    struct fits *f = calloc(1, sizeof *f);
    enum srcfind_status status = SRCFIND_OK;
    *n_points = 0;
    if (f && !is_too_wide(search->frame))
        f->rows = choose_rows(search, rows, n, &f->n);
    if (!f || (!f->rows && !is_too_wide(search->frame)))
        status = error_memory(error, "measuring the point-spread function");
    else if (f->n > 0)
        status = read_and_fit(search, f, threads, error);
    for (int64_t k = 0; status == SRCFIND_OK && k < f->n; k++)
        *n_points += take_shape(f, k, &points[*n_points]);
    if (f) {
        free(f->rows);
        free(f->runs);
        free(f->pixels);
        run_pixels_clear(&f->read);
    }
    free(f);
    return status;
}
