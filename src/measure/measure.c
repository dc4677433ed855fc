#include "measure/measure.h"

#include <float.h>
#include <stdlib.h>

#include "backend/double_double.h"
#include "common/arrays.h"
#include "measure/uncertainty.h"
#include "measure/world_columns.h"

/* What is the same for all islands of an image. */
struct setting {
    const struct detection *detection;
    const struct noise_map *noise;
    const struct noise_at *at_peaks; /* the islands' own, if maps are given; else NULL */
    double correlated; /* area over which noise is correlated, in pixels: the beam's, at least 1 */
    double to_flux;    /* flux / pixel sum */
    int64_t flags;
};

/* Background and noise at the peak of a source. */
struct peak_noise {
    double base;      /* the value that is subtracted from the pixels */
    double threshold; /* the island threshold above the base */
    struct noise noise;
};

/* Moments of value - base. Positions are relative to the corner of the bounding box. */
struct moments {
    double sum, x, y;     /* x and y are the centroid */
    struct tensor second; /* second moments about the centroid */
    struct tensor spread; /* sum over the pixels of (x - centroid)^2, ..., not weighted by value */
};

/* Sum of (u - a)(v - b) over the pixels, not weighted by value; (a, b) need not be their mean. */
static double sum_about(const struct island *i, enum moment second, enum moment first_a,
                        enum moment first_b, double a, double b) {
    return (double)island_sum(i, second) - a * (double)island_sum(i, first_b) -
           b * (double)island_sum(i, first_a) + (double)i->n_pixels * a * b;
}

/* A sum over pixel values, given in units of `unit`, minus the same sum over `base`. */
static double sum_above(int128 of_values, double unit, int128 of_ones, double base) {
    return dd_minus_product(dd_integer(of_values, unit), base, dd_integer(of_ones, 1));
}

static struct moments moments_of(const struct island *i, double base) {
    const double unit = ldexp(1, i->unit);
    const double sum = sum_above(island_sum(i, SUM_Q), unit, i->n_pixels, base);
    const double x = sum_above(island_sum(i, SUM_QX), unit, island_sum(i, SUM_X), base) / sum;
    const double y = sum_above(island_sum(i, SUM_QY), unit, island_sum(i, SUM_Y), base) / sum;
    const double xx = sum_above(island_sum(i, SUM_QXX), unit, island_sum(i, SUM_XX), base) / sum;
    const double yy = sum_above(island_sum(i, SUM_QYY), unit, island_sum(i, SUM_YY), base) / sum;
    const double xy = sum_above(island_sum(i, SUM_QXY), unit, island_sum(i, SUM_XY), base) / sum;
    return (struct moments){
        .sum = sum,
        .x = x,
        .y = y,
        .second = {xx - x * x, yy - y * y, xy - x * y},
        .spread = {sum_about(i, SUM_XX, SUM_X, SUM_X, x, x),
                   sum_about(i, SUM_YY, SUM_Y, SUM_Y, y, y),
                   sum_about(i, SUM_XY, SUM_X, SUM_Y, x, y)},
    };
}

/* Estimates the second moments of the whole source. A Gaussian cut at r = threshold / peak keeps
 * the fraction 1 + r ln(r) / (1 - r) of them (Spreeuw 2010, thesis, University of Amsterdam,
 * eq. 2.71). Returns false where the pixels, in one line or two, show no width (the bound is
 * SExtractor's). */
static bool find_shape(const struct moments *m, double r, struct tensor *shape) {
    const struct tensor *t = &m->second;
    const double fraction = 1 + r * log(r) / (1 - r);
    if (!(t->xx * t->yy - t->xy * t->xy > 1.0 / 144) || !(fraction > 0))
        return false;
    *shape = (struct tensor){t->xx / fraction, t->yy / fraction, t->xy / fraction};
    return true;
}

static void measure_fluxes(const struct peak_noise *l, double to_flux, const struct moments *m,
                           double relative_error, struct srcfind_source *row) {
    const double n = (double)row->n_pixels;
    const double kept = fmax(1 - l->threshold / row->peak_flux, DBL_EPSILON);
    row->pixel_sum = m->sum;
    row->isl_total_flux = m->sum * to_flux;
    row->e_isl_total_flux = uncertainty_of_sum(&l->noise, n) * to_flux;
    row->total_flux = row->isl_total_flux / kept;
    row->e_total_flux = row->total_flux * relative_error;
    if (row->e_total_flux > row->total_flux / 2)
        row->flags |= SRCFIND_FLAG_UNCERTAIN_TOTAL;
}

/* Fills the columns that are measured in pixels. *pixel_shape is for the world columns. */
static void measure_island(const struct island *island, const struct peak_noise *l,
                           const struct setting *s, struct srcfind_source *row,
                           struct pixel_shape *pixel_shape) {
    const struct moments m = moments_of(island, s->noise->nodes || s->at_peaks ? 0 : l->base);
    struct tensor shape = {0}; /* where unknown: uncertainty_of_source then takes the beam's */
    row->isl_rms = l->noise.rms;
    row->isl_mean = l->base;
    row->peak_flux = (double)island->peak - l->base;
    row->e_peak_flux = l->noise.rms;
    row->snr = row->peak_flux / l->noise.rms;
    const bool has_shape = find_shape(&m, l->threshold / row->peak_flux, &shape);
    if (!has_shape)
        row->flags |= SRCFIND_FLAG_NO_SHAPE;
    const struct uncertainty errors = uncertainty_of_source(&l->noise, &shape, row->snr, &m.spread,
                                                            m.sum, (double)island->n_pixels);
    measure_fluxes(l, s->to_flux, &m, errors.relative_total, row);
    pixel_shape->second = has_shape ? shape : (struct tensor){NAN, NAN, NAN};
    pixel_shape->position = errors.position;
    row->x = island->x_min + m.x;
    row->y = island->y_min + m.y;
    row->e_x = sqrt(pixel_shape->position.xx);
    row->e_y = sqrt(pixel_shape->position.yy);
}

static void copy_extent(const struct island *island, int64_t flags, struct srcfind_source *row) {
    row->n_pixels = island->n_pixels;
    row->x_min = island->x_min;
    row->x_max = island->x_max;
    row->y_min = island->y_min;
    row->y_max = island->y_max;
    row->x_peak = island->x_peak;
    row->y_peak = island->y_peak;
    row->flags = flags;
    if (island->edge)
        row->flags |= SRCFIND_FLAG_EDGE;
    if (island->n_pixels == 1)
        row->flags |= SRCFIND_FLAG_SINGLE_PIXEL;
}

static struct setting measure_setting(const struct detection_result *result,
                                      const struct detection *detection, const struct image *image,
                                      const struct srcfind_image *metadata) {
    const bool has_beam = isfinite(metadata->beam_pixels);
    struct setting s = {
        .detection = detection,
        .noise = &result->noise,
        .at_peaks = result->segments.noise,
        .correlated = has_beam ? fmax(metadata->beam_pixels, 1) : 1,
        .to_flux = has_beam && !image->per_pixel ? 1 / metadata->beam_pixels : 1,
        .flags = has_beam || image->per_pixel ? 0 : SRCFIND_FLAG_NO_BEAM,
    };
    if (isfinite(image->jansky) && (has_beam || image->per_pixel))
        s.to_flux *= image->jansky;
    return s;
}

/* The noise at the peak of island i. */
static struct peak_noise noise_at(const struct setting *s, const struct island *island, int64_t i) {
    const struct noise_at noise =
        s->at_peaks ? s->at_peaks[i] : noise_map_at(s->noise, island->x_peak, island->y_peak);
    return (struct peak_noise){
        noise.background, s->detection->island * noise.rms, {noise.rms, s->correlated}};
}

static struct srcfind_source empty_row(int64_t id) {
    return (struct srcfind_source){.id = id,
                                   .island_id = id,
                                   .lon = NAN,
                                   .lat = NAN,
                                   .e_lon = NAN,
                                   .e_lat = NAN,
                                   .major = NAN,
                                   .minor = NAN,
                                   .angle = NAN};
}

/* --- all islands --- */

enum { BLOCK = 4096 }; /* islands that a thread measures in one batch */

struct worker {
    struct wcs *wcs; /* worker 0: the image's; others: a copy; NULL without sky coordinates */
    struct pixel_shape *shapes;
    enum srcfind_status status;
    struct error error;
};

/* The islands [first, end). Each worker measures a range of them. */
struct batch {
    const struct setting *setting;
    const struct srcfind_image *metadata;
    const struct island *islands;
    int64_t first, end;
    int n_workers;
    struct worker *workers;
    struct srcfind_source *rows;
};

static void measure_range(void *context, int i) {
    const struct batch *b = context;
    struct worker *w = &b->workers[i];
    const int64_t n = b->end - b->first;
    const int64_t first = b->first + threads_part(n, b->n_workers, i);
    const int64_t end = b->first + threads_part(n, b->n_workers, i + 1);
    for (int64_t k = first; k < end; k++) {
        const struct peak_noise noise = noise_at(b->setting, &b->islands[k], k);
        b->rows[k] = empty_row(k + 1);
        copy_extent(&b->islands[k], b->setting->flags, &b->rows[k]);
        measure_island(&b->islands[k], &noise, b->setting, &b->rows[k], &w->shapes[k - first]);
    }
    if (w->wcs)
        w->status = world_columns_fill(w->wcs, b->metadata, end - first, w->shapes, b->rows + first,
                                       &w->error);
}

static enum srcfind_status measure_batch(struct batch *b, struct threads *threads,
                                         struct error *error) {
    threads_run(threads, b->n_workers, measure_range, b);
    for (int i = 0; i < b->n_workers; i++) {
        if (b->workers[i].status != SRCFIND_OK) {
            *error = b->workers[i].error;
            return b->workers[i].status;
        }
    }
    return SRCFIND_OK;
}

static void free_workers(struct worker *workers, int n) {
    for (int i = 0; workers && i < n; i++) {
        if (i > 0)
            wcs_close(workers[i].wcs);
        free(workers[i].shapes);
    }
    free(workers);
}

static struct worker *make_workers(int n, const struct image *image) {
    struct worker *workers = calloc((size_t)n, sizeof *workers);
    bool ok = workers;
    for (int i = 0; ok && i < n; i++) {
        const bool has_wcs = image->wcs;
        workers[i].wcs = !has_wcs ? NULL : i == 0 ? image->wcs : wcs_copy(image->wcs);
        workers[i].shapes = malloc(BLOCK * sizeof *workers[i].shapes);
        ok = workers[i].shapes && (workers[i].wcs || !has_wcs);
    }
    if (ok)
        return workers;
    free_workers(workers, n);
    return NULL;
}

/* Keeps the first n islands and frees the memory of the others. */
static void keep_first(struct segments *segments, int64_t n) {
    struct island *islands = realloc(segments->islands, ((size_t)n + 1) * sizeof *islands);
    if (islands)
        segments->islands = islands;
    segments->n = n;
}

enum srcfind_status measure_islands(struct detection_result *result,
                                    const struct detection *detection, const struct image *image,
                                    const struct srcfind_image *metadata, struct threads *threads,
                                    struct srcfind_source **rows, struct error *error) {
    struct segments *segments = &result->segments;
    const int64_t n = segments->n;
    const struct setting s = measure_setting(result, detection, image, metadata);
    struct batch batch = {.setting = &s,
                          .metadata = metadata,
                          .n_workers = threads_parts(threads, n, BLOCK / 4),
                          .rows = calloc((size_t)n + 1, sizeof *batch.rows)};
    batch.workers = make_workers(batch.n_workers, image);
    arrays_use_huge_pages(batch.rows, ((size_t)n + 1) * sizeof *batch.rows);
    enum srcfind_status status = SRCFIND_OK;
    if (!batch.workers || !batch.rows)
        status = error_memory(error, "measuring sources");
    while (status == SRCFIND_OK && segments->n > 0) {
        const int64_t batch_size = (int64_t)BLOCK * batch.n_workers;
        batch.islands = segments->islands;
        batch.end = segments->n;
        batch.first = (batch.end - 1) / batch_size * batch_size;
        status = measure_batch(&batch, threads, error);
        keep_first(segments, batch.first);
    }
    free_workers(batch.workers, batch.n_workers);
    segments_clear(segments);
    if (status != SRCFIND_OK) {
        free(batch.rows);
        batch.rows = NULL;
    }
    *rows = batch.rows;
    return status;
}
