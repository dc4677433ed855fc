/* How a row of the catalogue is made.
 *
 * 1. Moments of an island or component, integer sums, are turned to sums of value - base in
 *    double-double arithmetic, and rounded once (moments_of).
 * 2. Pixel columns (measure_island): position is the centroid; the shape follows from the second
 *    moments, which the threshold cuts (Spreeuw 2010, eq. 2.71); total flux is corrected for the
 *    flux below the threshold. Errors are in uncertainty.h
 *    and fit_uncertainty.h.
 * 3. With a fit, a Gaussian or a composite replaces position, fluxes, shape and errors
 *    (measure_fit); a row without a fit keeps those of its pixels, and gets a flag.
 * 4. scale_row turns a row of a scale to pixels of the image; world columns follow, 256 rows at a
 *    time (world_columns.c).
 *
 * Always: a row depends on its own component alone. Threads make ranges of rows, and each has a
 * copy of the image's WCS, which WCSLIB changes as it converts.
 *
 * Cost: measure_islands makes rows from the last block to the first, and frees islands behind it:
 * islands and rows are never all in memory. */
#include "measure/measure.h"

#include <float.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/island_sums.h"
#include "measure/scale_row.h"
#include "measure/uncertainty.h"

/* Background and noise at the peak of a source. */
struct peak_noise {
    double base; /* the value that is subtracted from the pixels */
    struct noise noise;
};

/* Moments of value - base. Positions are relative to the corner of the island's box. */
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

static struct moments moments_of(const struct island *i, double base) {
    const double unit = ldexp(1, i->unit);
    const double sum = island_sum_above(i, base);
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

/* The largest share of a Gaussian below the threshold with which an uncertain flux stays corrected:
 * sources of one or two bright pixels are uncertain because of their area, not of the cut. */
static const double LARGEST_SHARE = 0.5;

/* Where the island threshold cuts a source off: `share` = threshold / snr. */
struct cut {
    double share, snr;
};

/* snr: of the source's most significant pixel. If a fit or a division gave this pixel to another
 * source, snr may be below the detection threshold, which is then taken. */
static struct cut cut_at(const struct detection *d, double snr) {
    const double at_least = fmax(snr, d->threshold);
    return (struct cut){d->island / at_least, at_least};
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

static bool is_uncertain(const struct srcfind_source *row) {
    return row->e_total_flux > fabs(row->total_flux) / 2;
}

/* Replaces a total flux that cannot be corrected by the flux of a point with the peak of the source
 * or, if it is larger, of the pixels. The error covers both fluxes, and the corrected flux if the
 * most significant pixel were higher by its error; the area of an island is known to about one
 * pixel. If another image was searched, fluxes may be negative. */
static void take_least_flux(const struct setting *s, const struct cut *cut,
                            struct srcfind_source *row) {
    const double per_peak = s->point * s->to_flux, island = row->isl_total_flux;
    const double point = row->peak_flux * per_peak, sign = island < 0 ? -1 : 1;
    const double if_higher = island / (1 - s->detection->island / (cut->snr + 1));
    const double e_island = hypot(row->e_isl_total_flux, island / (double)row->n_pixels);
    row->total_flux = sign * fmax(sign * point, sign * island);
    row->e_total_flux = hypot(fmax(row->e_peak_flux * per_peak, e_island),
                              fmax(fabs(point - island), fabs(if_higher - row->total_flux)));
}

/* The error of the flux of an island's pixels. */
static double error_of_sum(const struct island *island, const struct peak_noise *l,
                           const struct setting *s) {
    return l->noise.rms * s->to_flux *
           uncertainty_of_sum(s->correlation, island, (double)island->n_pixels);
}

/* Fills the fluxes, of which the error of the sum is known. The pixels of a Gaussian above the
 * island threshold have the share 1 - cut of its flux. cut = T / snr has the relative error 1 /
 * snr, and so 1 / (1 - cut) that of cut / (1 - cut) / snr. */
static void measure_fluxes(const struct cut *cut, const struct setting *s, const struct moments *m,
                           double relative_error, struct srcfind_source *row) {
    const double kept = fmax(1 - cut->share, DBL_EPSILON);
    const double of_cut = cut->share / kept / cut->snr;
    row->pixel_sum = m->sum;
    row->isl_total_flux = m->sum * s->to_flux;
    row->total_flux = row->isl_total_flux / kept;
    const double of_sum =
        isnan(relative_error) ? row->e_isl_total_flux / kept : row->total_flux * relative_error;
    row->e_total_flux = hypot(of_sum, row->total_flux * of_cut);
    if (!is_uncertain(row))
        return;
    row->flags |= SRCFIND_FLAG_UNCERTAIN_TOTAL;
    if (cut->share > LARGEST_SHARE)
        take_least_flux(s, cut, row);
}

/* The background that is still in the values of an island's moments. */
static double base_of_islands(const struct setting *s, const struct peak_noise *l) {
    return s->noise->nodes || noise_sources_exist(&s->detection->maps) ? 0 : l->base;
}

/* Whether the flux is positive and the centroid in the island's box. It may not be so if another
 * image was searched. */
static bool is_source(const struct island *i, const struct moments *m) {
    return m->sum > 0 && m->x > -0.5 && m->x < (double)i->x_max - i->x_min + 0.5 && m->y > -0.5 &&
           m->y < (double)i->y_max - i->y_min + 0.5;
}

/* Moves an island that is no source to its highest pixel, without a shape and an error. */
static void move_to_peak(const struct island *i, struct moments *m) {
    m->x = i->x_peak - i->x_min;
    m->y = i->y_peak - i->y_min;
    m->second = m->spread = (struct tensor){NAN, NAN, NAN};
}

/* The meaning of the values in an island's moments. */
struct island_values {
    double base; /* still in the values */
    double snr;  /* the largest (value - background) / rms in the detection image */
};

/* Fills the columns that are measured in pixels. *pixel_shape is for the world columns. */
static void measure_island(const struct island *island, const struct peak_noise *l,
                           const struct island_values *v, const struct setting *s,
                           struct srcfind_source *row, struct pixel_shape *pixel_shape) {
    struct moments m = moments_of(island, v->base);
    struct tensor shape = {0}; /* where unknown: uncertainty_of_source then takes the beam's */
    row->isl_rms = l->noise.rms;
    row->isl_mean = l->base;
    row->peak_flux = (double)island->peak - l->base;
    row->pixel_peak = row->peak_flux;
    row->e_peak_flux = l->noise.rms;
    row->snr = row->peak_flux / l->noise.rms;
    const bool is_there = is_source(island, &m);
    if (!is_there)
        move_to_peak(island, &m);
    const struct cut cut = cut_at(s->detection, v->snr);
    const bool has_shape = find_shape(&m, cut.share, &shape);
    if (!has_shape)
        row->flags |= SRCFIND_FLAG_NO_SHAPE;
    struct uncertainty errors = uncertainty_of_source(&l->noise, &shape, row->snr, &m.spread, m.sum,
                                                      (double)island->n_pixels);
    if (!is_there)
        errors = (struct uncertainty){{NAN, NAN, NAN}, NAN};
    row->e_isl_total_flux = error_of_sum(island, l, s);
    measure_fluxes(&cut, s, &m, errors.relative_total, row);
    *pixel_shape =
        (struct pixel_shape){.position = errors.position,
                             .second = has_shape ? shape : (struct tensor){NAN, NAN, NAN},
                             .x_highest = NAN,
                             .y_highest = NAN};
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

/* The noise at a peak. */
static struct peak_noise peak_noise(const struct setting *s, struct noise_at noise) {
    return (struct peak_noise){noise.background, {noise.rms, s->correlated}};
}

/* --- components --- */

/* Empties the pixel columns of a source without pixels. */
static void empty_pixels(const struct component *c, const struct setting *s,
                         struct srcfind_source *row) {
    setting_empty_pixels(row);
    row->flags = s->flags | (c->pixels.edge ? SRCFIND_FLAG_EDGE : 0);
}

/* The errors of second moments that are given along x and y. */
static struct shape_error shape_error_of(const struct fit_errors *e, double rms) {
    const double square = rms * rms;
    return (struct shape_error){.to_pixels = {1, 0, 0, 1},
                                .major = e->shape[0][0] * square,
                                .minor = e->shape[1][1] * square,
                                .mixed = e->shape[2][2] * square,
                                .covariance = e->shape[0][1] * square,
                                .major_mixed = e->shape[0][2] * square,
                                .minor_mixed = e->shape[1][2] * square};
}

/* The frame of fits at a Gaussian. */
static struct fit_frame frame_at(const struct component_gaussian *g, const struct setting *s) {
    return psf_frame(&s->psf, &s->grid, &s->of_image, g->gaussian.x, g->gaussian.y);
}

/* The errors of a Gaussian that follow from the pixels of its fit. */
static struct fit_uncertainty uncertainty_by_pixels(const struct component_gaussian *g, double rms,
                                                    const struct setting *s) {
    const struct fit_errors *e = &g->errors;
    const double square = rms * rms, form = tensor_determinant(&g->gaussian.form);
    const double total = 2 * M_PI * g->gaussian.peak / sqrt(form);
    const struct tensor *i = &g->gaussian.form;             /* the inverse of the second moments */
    const double by[3] = {0.5 * i->xx, 0.5 * i->yy, i->xy}; /* of ln(area) by the moments */
    double e_area = 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            e_area += by[a] * by[b] * e->shape[a][b];
    const struct fit_frame frame = frame_at(g, s);
    const double area = frame.ux * frame.vy / sqrt(form);
    return (struct fit_uncertainty){
        .position = {e->position.xx * square, e->position.yy * square, e->position.xy * square},
        .relative_peak = e->peak * rms / g->gaussian.peak,
        .relative_total = e->total * rms / total,
        .area = area,
        .e_area = area * sqrt(fmax(e_area, 0)) * rms,
        .shape = shape_error_of(e, rms)};
}

static struct fit_uncertainty uncertainty_of(const struct component_gaussian *g, double rms,
                                             const struct setting *s) {
    if (g->has_errors)
        return uncertainty_by_pixels(g, rms, s);
    const struct fit_frame frame = frame_at(g, s);
    const struct fit_uncertainty of_one =
        g->has_beam_shape && s->psf.n_x == 0
            ? s->of_point
            : fit_uncertainty_of(&g->gaussian, &frame, s->correlation, g->has_beam_shape);
    return fit_uncertainty_at(&of_one, g->gaussian.peak / rms);
}

/* The flags of a fit: the beam's shape; narrower than the beam (an area 3 errors below 0.8 of the
 * beam's). */
static int64_t flags_of_shape(const struct component_gaussian *g, const struct fit_uncertainty *u,
                              const struct setting *s) {
    const bool is_narrow = s->frame.has_beam && u->area + 3 * u->e_area < 0.8;
    return (g->has_beam_shape ? SRCFIND_FLAG_BEAM_SHAPE : 0) |
           (is_narrow ? SRCFIND_FLAG_NARROW : 0);
}

/* The error of a flux by the choice of the beam's shape / the error that would make the flux of a
 * free shape differ as much: it is above 1, because a wide source looks like the beam if noise
 * makes it narrow. With it, total fluxes of sources 1.2 to 2 beams wide at 5 to 10 rms scatter by
 * at most 1.6 of their errors. */
static const double UNCERTAIN_LOSS = 2;

/* What the choice of the beam's shape may have cost the total flux of a Gaussian, of the map's unit
 * x pixels: by how much the flux of the free shape was larger, beyond the error of its area. */
static double cost_of_shape(const struct component_gaussian *g, const struct fit_uncertainty *u) {
    const double e_area = u->e_area / u->area, square = g->lost * g->lost - e_area * e_area;
    const double total = 2 * M_PI * g->gaussian.peak / sqrt(tensor_determinant(&g->gaussian.form));
    return g->has_beam_shape ? UNCERTAIN_LOSS * sqrt(fmax(square, 0)) * total : 0;
}

/* Replaces position, fluxes and shape of the pixels by those of a Gaussian. */
static void measure_gaussian(const struct component_gaussian *fitted, double rms,
                             const struct setting *s, struct srcfind_source *row,
                             struct pixel_shape *shape) {
    const struct gaussian *g = &fitted->gaussian;
    const struct fit_uncertainty u = uncertainty_of(fitted, rms, s);
    const struct tensor second = tensor_inverse(&g->form);
    const double pixels = 2 * M_PI * sqrt(second.xx * second.yy - second.xy * second.xy);
    row->x = g->x;
    row->y = g->y;
    row->e_x = sqrt(u.position.xx);
    row->e_y = sqrt(u.position.yy);
    row->peak_flux = g->peak;
    row->e_peak_flux = g->peak * u.relative_peak;
    row->total_flux = g->peak * pixels * s->to_flux;
    row->e_total_flux = row->total_flux * u.relative_total;
    row->e_total_shape = cost_of_shape(fitted, &u) * s->to_flux;
    row->flags |= flags_of_shape(fitted, &u, s);
    row->snr = g->peak / rms;
    *shape =
        (struct pixel_shape){u.position, second, g->x, g->y, true, fitted->has_beam_shape, u.shape};
}

/* Sets what follows from each of several Gaussians: flags that all of them have, and the costs of
 * their shapes, added in quadrature. */
static void measure_members(const struct component_gaussian *gaussians, int64_t n, double rms,
                            const struct setting *s, struct srcfind_source *row) {
    int64_t flags = SRCFIND_FLAG_BEAM_SHAPE | SRCFIND_FLAG_NARROW;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct fit_uncertainty u = uncertainty_of(&gaussians[i], rms, s);
        const double cost = cost_of_shape(&gaussians[i], &u);
        flags &= flags_of_shape(&gaussians[i], &u, s);
        sum += cost * cost;
    }
    row->flags |= flags;
    row->e_total_shape = sqrt(sum) * s->to_flux;
}

/* Replaces position, fluxes and shape of the pixels by those of several Gaussians. */
static void measure_composite(const struct composite *c, double rms, const struct setting *s,
                              struct srcfind_source *row, struct pixel_shape *shape) {
    const struct fit_errors *e = &c->error;
    const double square = rms * rms;
    row->x = c->x;
    row->y = c->y;
    row->e_x = sqrt(e->position.xx) * rms;
    row->e_y = sqrt(e->position.yy) * rms;
    row->peak_flux = c->peak;
    row->e_peak_flux = e->peak * rms;
    row->total_flux = c->total * s->to_flux;
    row->e_total_flux = e->total * rms * s->to_flux;
    row->snr = c->peak / rms;
    *shape = (struct pixel_shape){
        .position = {e->position.xx * square, e->position.yy * square, e->position.xy * square},
        .second = c->second,
        .x_highest = c->x_highest,
        .y_highest = c->y_highest,
        .is_fitted = true,
        .error = shape_error_of(e, rms)};
}

static int64_t flag_of_total(const struct srcfind_source *row) {
    return is_uncertain(row) ? SRCFIND_FLAG_UNCERTAIN_TOTAL : 0;
}

/* Replaces the measurements of the pixels by the fit. all: the Gaussians of all components. */
static void measure_fit(const struct component *c, const struct component_gaussian *all,
                        const struct setting *s, struct srcfind_source *row,
                        struct pixel_shape *shape) {
    row->n_gaussians = c->n_gaussians > 0 ? c->n_gaussians : 1; /* the one of its moments */
    if (c->n_gaussians == 0) {
        row->flags |= SRCFIND_FLAG_NOT_FITTED;
        shape->x_highest = (double)c->pixels.x_peak;
        shape->y_highest = (double)c->pixels.y_peak;
        return;
    }
    const struct component_gaussian *const gaussians = all + c->first_gaussian;
    row->flags &= ~(int64_t)(SRCFIND_FLAG_NO_SHAPE | SRCFIND_FLAG_UNCERTAIN_TOTAL);
    if (c->composite) {
        measure_composite(c->composite, c->noise.rms, s, row, shape);
        measure_members(gaussians, c->n_gaussians, c->noise.rms, s, row);
    } else {
        measure_gaussian(gaussians, c->noise.rms, s, row, shape);
    }
    row->flags |= flag_of_total(row);
}

/* Fills what the fit leaves. A chi squared of less than one degree of freedom means nothing. */
static void measure_residual(const struct component *c, const struct setting *s,
                             struct srcfind_source *row) {
    row->resid_isl_rms = c->residual_rms;
    row->resid_isl_mean = c->residual_mean;
    if (c->n_gaussians == 0)
        return;
    row->dof = fmax(c->residual.freedom / s->noise_areas.square, 0);
    row->chi2 = row->dof >= 1 ? c->residual.square / c->residual.freedom : (double)NAN;
    row->chi2_sum = c->residual.square;
}

/* Fills the columns of the island, which are the same for all its sources. */
static void measure_whole(const struct component *c, const struct island *island,
                          const struct setting *s, struct srcfind_source *row) {
    const struct peak_noise l = peak_noise(s, c->island_noise);
    row->island_id = c->island + 1;
    row->s_code[0] = c->composite ? 'M' : c->is_alone ? 'S' : 'C';
    row->isl_total_flux = moments_of(island, base_of_islands(s, &l)).sum * s->to_flux;
    row->e_isl_total_flux = error_of_sum(island, &l, s);
    row->pix_snr = c->pix_snr;
}

/* --- many --- */

enum { BLOCK = 4096 }; /* rows that a thread makes in one batch */

struct worker {
    struct wcs *wcs; /* worker 0: the image's; others: a copy; NULL without sky coordinates */
    struct pixel_shape *shapes;
};

struct measurer {
    struct setting setting;
    const struct srcfind_image *metadata;
    struct threads *threads;
    int n_workers;
    struct worker *workers;
};

/* The rows [first, end). Each worker makes a range of them. */
struct batch {
    const struct measurer *measurer;
    const struct island *islands;
    const struct component *components; /* NULL: each island is a source */
    const struct component_gaussian *gaussians;
    const int64_t *of_composites; /* NULL: rows are sources; else the Gaussian of each row */
    int64_t before;               /* sources that have lower numbers than those of the batch */
    bool is_fit;
    int64_t first, end;
    struct srcfind_source *rows;
};

static void measure_component(const struct batch *b, const struct component *c,
                              struct srcfind_source *row, struct pixel_shape *shape) {
    const struct setting *s = &b->measurer->setting;
    const struct peak_noise l = peak_noise(s, c->noise);
    row->isl_rms = c->noise.rms;
    row->isl_mean = c->noise.background;
    if (c->pixels.n_pixels > 0) {
        copy_extent(&c->pixels, s->flags, row);
        const struct island_values values = {c->is_alone ? base_of_islands(s, &l) : 0, c->snr};
        measure_island(&c->pixels, &l, &values, s, row, shape);
    } else {
        empty_pixels(c, s, row);
    }
    if (b->is_fit)
        measure_fit(c, b->gaussians, s, row, shape);
    measure_whole(c, &b->islands[c->island], s, row);
    measure_residual(c, s, row);
}

/* The row of a Gaussian of a source that has several. */
static void measure_member(const struct batch *b, const struct component_gaussian *g,
                           struct srcfind_source *row, struct pixel_shape *shape) {
    const struct component *c = &b->components[g->component];
    const struct setting *s = &b->measurer->setting;
    *row = setting_empty_row(b->before + g->component + 1);
    row->isl_rms = c->noise.rms;
    row->isl_mean = c->noise.background;
    empty_pixels(c, s, row);
    measure_gaussian(g, c->noise.rms, s, row, shape);
    row->flags |= flag_of_total(row);
    measure_whole(c, &b->islands[c->island], s, row);
    measure_residual(c, s, row);
}

static void measure_row(const struct batch *b, int64_t k, struct pixel_shape *shape) {
    const struct setting *s = &b->measurer->setting;
    struct srcfind_source *row = &b->rows[k];
    if (b->of_composites) {
        measure_member(b, &b->gaussians[b->of_composites[k]], row, shape);
        return;
    }
    *row = setting_empty_row(b->before + k + 1);
    if (b->components) {
        measure_component(b, &b->components[k], row, shape);
        return;
    }
    const struct island *island = &b->islands[k];
    const struct peak_noise noise =
        peak_noise(s, noise_map_at(s->noise, island->x_peak, island->y_peak));
    copy_extent(island, s->flags, row);
    const double above = (double)island->peak - noise.base;
    const struct island_values values = {base_of_islands(s, &noise),
                                         s->noise->nodes ? island->snr : above / noise.noise.rms};
    measure_island(island, &noise, &values, s, row, shape);
}

/* Adds the error of positions that is not of noise, in quadrature. */
static void add_position_error(const struct setting *s, struct srcfind_source *row,
                               struct pixel_shape *shape) {
    const double square = s->position_error * s->position_error;
    if (square == 0)
        return;
    row->e_x = sqrt(row->e_x * row->e_x + square);
    row->e_y = sqrt(row->e_y * row->e_y + square);
    shape->position.xx += square;
    shape->position.yy += square;
}

static enum srcfind_status measure_range(void *context, int i, struct error *error) {
    const struct batch *b = context;
    const struct worker *w = &b->measurer->workers[i];
    const int n_workers = b->measurer->n_workers;
    const int64_t n = b->end - b->first;
    const int64_t first = b->first + threads_share(n, n_workers, i);
    const int64_t end = b->first + threads_share(n, n_workers, i + 1);
    for (int64_t k = first; k < end; k++) {
        struct pixel_shape *shape = &w->shapes[k - first];
        measure_row(b, k, shape);
        scale_row(&b->measurer->setting, &b->rows[k], shape);
        add_position_error(&b->measurer->setting, &b->rows[k], shape);
        setting_size_in_pixels(&b->measurer->setting.psf.beam, &shape->second, &b->rows[k]);
    }
    if (w->wcs)
        return world_columns_fill(w->wcs, b->measurer->metadata, &b->measurer->setting.psf,
                                  end - first, w->shapes, b->rows + first, error);
    world_columns_in_pixels(end - first, w->shapes, b->rows + first);
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

struct measurer *measurer_make(const struct view *view, const struct fit_frame *frame, int64_t n,
                               struct threads *threads) {
    struct measurer *m = malloc(sizeof *m);
    if (!m)
        return NULL;
    *m = (struct measurer){.setting = setting_make(view, frame),
                           .metadata = view->metadata,
                           .threads = threads,
                           .n_workers = threads_shares(threads, n, BLOCK / 4)};
    m->workers = make_workers(m->n_workers, view->image);
    if (m->workers)
        return m;
    free(m);
    return NULL;
}

void measurer_free(struct measurer *m) {
    if (m)
        free_workers(m->workers, m->n_workers);
    free(m);
}

/* Makes n rows of a batch, block by block. */
static enum srcfind_status measure_rows(struct batch *b, int64_t n, struct error *error) {
    const struct measurer *m = b->measurer;
    const int64_t most = (int64_t)BLOCK * m->n_workers;
    enum srcfind_status status = SRCFIND_OK;
    for (; status == SRCFIND_OK && b->end < n; b->first = b->end) {
        b->end = n - b->first < most ? n : b->first + most;
        status = threads_try(m->threads, m->n_workers, measure_range, b, error);
    }
    return status;
}

enum srcfind_status measure_components(const struct measurer *measurer,
                                       const struct segments *segments,
                                       const struct components *components, bool is_fit,
                                       struct srcfind_source *rows, struct error *error) {
    struct batch b = {.measurer = measurer,
                      .islands = segments->islands,
                      .components = components->component,
                      .gaussians = components->gaussian,
                      .before = components->before,
                      .is_fit = is_fit,
                      .rows = rows};
    return measure_rows(&b, components->n, error);
}

enum srcfind_status measure_gaussians(const struct measurer *measurer,
                                      const struct segments *segments,
                                      const struct components *components,
                                      struct srcfind_source *rows, struct error *error) {
    int64_t *list = arrays_allocate(components->n_of_composites, sizeof *list), n = 0;
    if (!list)
        return error_memory(error, "measuring sources");
    for (int64_t i = 0; i < components->n; i++) {
        const struct component *c = &components->component[i];
        for (int64_t k = 0; c->composite && k < c->n_gaussians; k++)
            list[n++] = c->first_gaussian + k;
    }
    struct batch b = {.measurer = measurer,
                      .islands = segments->islands,
                      .components = components->component,
                      .gaussians = components->gaussian,
                      .before = components->before,
                      .of_composites = list,
                      .rows = rows};
    const enum srcfind_status status = measure_rows(&b, n, error);
    free(list);
    return status;
}

enum srcfind_status measure_islands(const struct measurer *measurer, struct segments *segments,
                                    struct srcfind_source **rows, struct error *error) {
    const size_t size = ((size_t)segments->n + 1) * sizeof **rows;
    const int64_t most = (int64_t)BLOCK * measurer->n_workers;
    struct batch b = {.measurer = measurer, .rows = calloc(1, size)};
    enum srcfind_status status = SRCFIND_OK;
    arrays_use_huge_pages(b.rows, size);
    if (!b.rows)
        status = error_memory(error, "measuring sources");
    while (status == SRCFIND_OK && segments->n > 0) {
        b.islands = segments->islands;
        b.end = segments->n;
        b.first = (b.end - 1) / most * most;
        status = threads_try(measurer->threads, measurer->n_workers, measure_range, &b, error);
        segments_keep(segments, b.first);
    }
    segments_clear(segments);
    if (status != SRCFIND_OK) {
        free(b.rows);
        b.rows = NULL;
    }
    *rows = b.rows;
    return status;
}
