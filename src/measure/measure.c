#include "measure/measure.h"

#include <float.h>
#include <stdlib.h>

#include "measure/world_columns.h"
#include "measure/double_double.h"
#include "pages.h"
#include "measure/uncertainty.h"

/* What all islands of an image share. */
struct setting {
    double base;      /* what is subtracted */
    double threshold; /* the island threshold above the base */
    struct noise noise;
    double to_flux; /* from a pixel sum to a flux */
    int64_t flags;
};

/* Moments of value - base about the corner of the box. */
struct moments {
    double sum, x, y;     /* the centroid is from the corner */
    struct tensor second; /* about the centroid */
    struct tensor spread; /* sum of (x - centroid)^2 ... over the pixels, without their values */
};

/* Second moments over the pixels alone, about a point that is not their mean. */
static double about(const struct island *i, enum moment second, enum moment first_a,
                    enum moment first_b, double a, double b) {
    return (double)island_sum(i, second) - a * (double)island_sum(i, first_b) -
           b * (double)island_sum(i, first_a) + (double)i->n_pixels * a * b;
}

/* A sum over values, which are in units, less that over base. */
static double above(int128 of_values, double unit, int128 of_ones, double base) {
    return dd_minus_product(dd_integer(of_values, unit), base, dd_integer(of_ones, 1));
}

static struct moments moments_of(const struct island *i, double base) {
    const double unit = ldexp(1, i->unit);
    const double sum = above(island_sum(i, SUM_Q), unit, i->n_pixels, base);
    const double x = above(island_sum(i, SUM_QX), unit, island_sum(i, SUM_X), base) / sum;
    const double y = above(island_sum(i, SUM_QY), unit, island_sum(i, SUM_Y), base) / sum;
    const double xx = above(island_sum(i, SUM_QXX), unit, island_sum(i, SUM_XX), base) / sum;
    const double yy = above(island_sum(i, SUM_QYY), unit, island_sum(i, SUM_YY), base) / sum;
    const double xy = above(island_sum(i, SUM_QXY), unit, island_sum(i, SUM_XY), base) / sum;
    return (struct moments){
        .sum = sum,
        .x = x,
        .y = y,
        .second = {xx - x * x, yy - y * y, xy - x * y},
        .spread = {about(i, SUM_XX, SUM_X, SUM_X, x, x), about(i, SUM_YY, SUM_Y, SUM_Y, y, y),
                   about(i, SUM_XY, SUM_X, SUM_Y, x, y)},
    };
}

/* Second moments of the whole source, or false where pixels in a line or two show no width (the
 * bound is SExtractor's). A Gaussian cut at r = threshold / peak keeps the share 1 + r ln(r) / (1 -
 * r) of them (Spreeuw 2010, thesis, University of Amsterdam, eq. 2.71). */
static bool find_shape(const struct moments *m, double r, struct tensor *shape) {
    const struct tensor *t = &m->second;
    const double share = 1 + r * log(r) / (1 - r);
    if (!(t->xx * t->yy - t->xy * t->xy > 1.0 / 144) || !(share > 0))
        return false;
    *shape = (struct tensor){t->xx / share, t->yy / share, t->xy / share};
    return true;
}

static void measure_fluxes(const struct setting *s, const struct moments *m, double relative_error,
                           struct srcfind_source *row) {
    const double n = (double)row->n_pixels;
    const double kept = fmax(1 - s->threshold / row->peak_flux, DBL_EPSILON);
    row->pixel_sum = m->sum;
    row->isl_total_flux = m->sum * s->to_flux;
    row->e_isl_total_flux = uncertainty_of_sum(&s->noise, n) * s->to_flux;
    row->total_flux = row->isl_total_flux / kept;
    row->e_total_flux = row->total_flux * relative_error;
    if (row->e_total_flux > row->total_flux / 2)
        row->flags |= SRCFIND_FLAG_UNCERTAIN_TOTAL;
}

/* Everything that is measured in pixels. */
static void measure_island(const struct island *island, const struct setting *s,
                           struct srcfind_source *row, struct pixel_shape *carried) {
    const struct moments m = moments_of(island, s->base);
    struct tensor shape = {0}; /* as narrow as the beam, unless it is seen */
    row->peak_flux = (double)island->peak - s->base;
    row->e_peak_flux = s->noise.rms;
    row->snr = row->peak_flux / s->noise.rms;
    const bool has_shape = find_shape(&m, s->threshold / row->peak_flux, &shape);
    if (!has_shape)
        row->flags |= SRCFIND_FLAG_NO_SHAPE;
    const struct uncertainty errors = uncertainty_of_source(&s->noise, &shape, row->snr, &m.spread,
                                                            m.sum, (double)island->n_pixels);
    measure_fluxes(s, &m, errors.relative_total, row);
    carried->second = has_shape ? shape : (struct tensor){NAN, NAN, NAN};
    carried->position = errors.position;
    row->x = island->x_min + m.x;
    row->y = island->y_min + m.y;
    row->e_x = sqrt(carried->position.xx);
    row->e_y = sqrt(carried->position.yy);
}

static void copy_extent(const struct island *island, const struct setting *s,
                        struct srcfind_source *row) {
    row->n_pixels = island->n_pixels;
    row->x_min = island->x_min;
    row->x_max = island->x_max;
    row->y_min = island->y_min;
    row->y_max = island->y_max;
    row->x_peak = island->x_peak;
    row->y_peak = island->y_peak;
    row->isl_rms = s->noise.rms;
    row->isl_mean = s->base;
    row->flags = s->flags;
    if (island->edge)
        row->flags |= SRCFIND_FLAG_EDGE;
    if (island->n_pixels == 1)
        row->flags |= SRCFIND_FLAG_SINGLE_PIXEL;
}

static struct setting setting_of(const struct srcfind_background *b,
                                 const struct detection *detection, const struct image *image,
                                 const struct srcfind_image *facts) {
    const bool has_beam = isfinite(facts->beam_pixels);
    const bool per_pixel = image && image->per_pixel;
    struct setting s = {
        .base = detection->subtract_background ? b->median : 0,
        .threshold = detection->island * b->rms,
        .noise = {b->rms, has_beam ? fmax(facts->beam_pixels, 1) : 1},
        .to_flux = has_beam && !per_pixel ? 1 / facts->beam_pixels : 1,
        .flags = has_beam || per_pixel ? 0 : SRCFIND_FLAG_NO_BEAM,
    };
    if (image && isfinite(image->jansky) && (has_beam || per_pixel))
        s.to_flux *= image->jansky;
    return s;
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

/* The rows of the islands [first, end). */
static enum srcfind_status measure_block(const struct island_list *list, int64_t first, int64_t end,
                                         const struct setting *s, const struct image *image,
                                         const struct srcfind_image *facts,
                                         struct pixel_shape *shapes, struct srcfind_source *rows,
                                         struct error *error) {
    for (int64_t i = first; i < end; i++) {
        rows[i] = empty_row(i + 1);
        copy_extent(&list->islands[i], s, &rows[i]);
        measure_island(&list->islands[i], s, &rows[i], &shapes[i - first]);
    }
    return image && image->sky
               ? celestial_fill(image->sky, facts, end - first, shapes, rows + first, error)
               : SRCFIND_OK;
}

/* Gives the memory of all but the first n islands back. */
static void shrink(struct island_list *list, int64_t n) {
    struct island *islands = realloc(list->islands, ((size_t)n + 1) * sizeof *islands);
    if (islands)
        list->islands = islands;
    list->n = n;
}

enum srcfind_status measure_islands(struct detection_result *result,
                                    const struct detection *detection, const struct image *image,
                                    struct srcfind_catalogue *catalogue, struct error *error) {
    enum { BLOCK = 4096 };
    struct island_list *list = &result->list;
    const int64_t n = list->n;
    const struct setting s = setting_of(&result->background, detection, image, &catalogue->image);
    struct pixel_shape *shapes = calloc(n < BLOCK ? (size_t)n + 1 : BLOCK, sizeof *shapes);
    struct srcfind_source *rows = calloc((size_t)n + 1, sizeof *rows);
    pages_ask_for_huge(rows, ((size_t)n + 1) * sizeof *rows);
    enum srcfind_status status = SRCFIND_OK;
    if (!shapes || !rows)
        status = error_memory(error, "measuring sources");
    for (int64_t end = n; status == SRCFIND_OK && end > 0; end = list->n) {
        const int64_t first = (end - 1) / BLOCK * BLOCK;
        status = measure_block(list, first, end, &s, image, &catalogue->image, shapes, rows, error);
        shrink(list, first);
    }
    free(shapes);
    free(list->islands);
    *list = (struct island_list){0};
    if (status != SRCFIND_OK) {
        free(rows);
        return status;
    }
    catalogue->n_sources = n;
    catalogue->sources = rows;
    return SRCFIND_OK;
}
