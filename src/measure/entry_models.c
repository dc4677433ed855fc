/* How entries become Gaussians, 1024 at a time:
 *
 * 1. Positions on the sky become pixels. Where the catalogue has Xposn and Yposn, too, and these
 *    are the same place, they are taken: they have no rounding of WCSLIB in them.
 * 2. The intrinsic shape, convolved with the point-spread function, is turned to pixels, and the
 *    whole shape, too (held_shapes.h).
 * 3. Whole shapes less intrinsic ones are the beam of the catalogue, unless entries tell it. If it
 *    is the point-spread function here, or there are no intrinsic shapes, whole shapes are taken.
 * 4. The peak is that of a Gaussian with this flux and area; Aegean's areas are those on the sky.
 */
#include "measure/entry_models.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/held_shapes.h"
#include "measure/places.h"
#include "measure/setting.h"

enum { AT_ONCE = 1024 };

/* How far two places and two areas may differ, pixels and parts of the beam's, to be the same. */
static const double SAME_PLACE = 1e-4, SAME_BEAM = 1e-3;

/* No image has pixels that far away. */
static const double MOST_PIXELS = 1e9;

struct entry_work {
    const struct view *view;
    const struct positions *positions;
    struct psf psf;
    struct flux_units units;
    double to_flux, widest; /* the widest FWHM, pixels */
    struct entry_model *models;
    struct tensor *wholes;   /* of the whole shape of each entry, pixels^2; NaN: unknown */
    int64_t n_same, n_other; /* entries whose shapes tell this image's beam, and another one */
};

struct flux_units entry_models_units(const struct view *view) {
    const struct srcfind_image *image = view->metadata;
    return (struct flux_units){image->flux_unit, image->unit,
                               image->beam_pixels * setting_to_flux(view->image, image),
                               image->frequency};
}

/* --- places --- */

/* Finds the pixels of n entries, from the first on; NaN where there are none. */
static enum srcfind_status find_pixels(const struct entry_work *m, int64_t first, int n, double *x,
                                       double *y, struct error *error) {
    const struct positions *p = m->positions;
    const struct srcfind_image *image = m->view->metadata;
    enum srcfind_status status = SRCFIND_OK;
    if (p->celestial)
        status = wcs_pixels(m->view->image->wcs, n, p->x + first, p->y + first, x, y, error);
    for (int i = 0; status == SRCFIND_OK && i < n; i++) {
        const struct position_flux *told = &p->fluxes[first + i];
        const double told_x = told->x - (double)image->first_x;
        const double told_y = told->y - (double)image->first_y;
        if (!p->celestial) {
            x[i] = p->x[first + i];
            y[i] = p->y[first + i];
        } else if (hypot(told_x - x[i], told_y - y[i]) < SAME_PLACE) {
            x[i] = told_x;
            y[i] = told_y;
        }
        if (!(hypot(x[i], y[i]) < MOST_PIXELS))
            x[i] = y[i] = NAN;
    }
    return status;
}

/* --- shapes --- */

static bool is_known(const struct tensor *t) {
    return isfinite(t->xx) && isfinite(t->yy) && isfinite(t->xy) && t->xx > 0 &&
           tensor_determinant(t) > 0;
}

/* The intrinsic shape of an entry; of one that has a whole shape alone, what the image's beam
 * leaves of it. */
static struct srcfind_beam intrinsic_of(const struct entry_work *m, int64_t entry) {
    const struct position_shape *shape = &m->positions->shapes[entry];
    const struct position_shape whole = {.size = shape->whole, .psf = m->view->metadata->beam};
    return held_shape_intrinsic(m->positions->told.are_whole ? &whole : shape);
}

/* Counts whether the beam that an entry tells is that of the image. */
static void compare_told(struct entry_work *m, const struct srcfind_beam *told) {
    const struct srcfind_beam *own = &m->view->metadata->beam;
    const struct tensor a = jacobian_ellipse(told->major, told->minor, told->angle);
    const struct tensor b = jacobian_ellipse(own->major, own->minor, own->angle);
    const bool is_same =
        fabs(a.xx - b.xx) + fabs(a.yy - b.yy) + fabs(a.xy - b.xy) < SAME_BEAM * (b.xx + b.yy);
    m->n_same += is_same;
    m->n_other += !is_same;
}

/* Counts whether an entry's whole shape is the intrinsic one with the point-spread function, which
 * tells nothing where nothing is left of an axis. */
static void compare_beam(struct entry_work *m, const struct entry_model *model,
                         const struct tensor *whole, const struct tensor *point) {
    const double difference = fabs(whole->xx - model->moments.xx) +
                              fabs(whole->yy - model->moments.yy) +
                              fabs(whole->xy - model->moments.xy);
    const bool is_same = difference < SAME_BEAM * (point->xx + point->yy);
    const bool tells = model->intrinsic.minor > 0;
    m->n_same += is_same;
    m->n_other += tells && !is_same;
}

/* Sets the shapes of n entries that have pixels; entry: their numbers. */
static enum srcfind_status set_shapes(struct entry_work *m, int n, const int64_t *entry,
                                      struct forced_position *at, struct error *error) {
    static const struct psf nothing = {0};
    const struct position_shape *shapes = m->positions->shapes;
    struct wcs *wcs = m->view->image->wcs;
    const struct srcfind_image *image = m->view->metadata;
    struct tensor moments[AT_ONCE], wholes[AT_ONCE];
    enum srcfind_status status = held_shapes_moments(wcs, image, &m->psf, n, at, moments, error);
    for (int i = 0; i < n; i++) {
        m->models[entry[i]].intrinsic = at[i].intrinsic;
        const struct position_shape whole = {.size = shapes ? shapes[entry[i]].whole
                                                            : (struct srcfind_beam){0}};
        at[i].intrinsic = held_shape_intrinsic(&whole);
    }
    if (status == SRCFIND_OK)
        status = held_shapes_moments(wcs, image, &nothing, n, at, wholes, error);
    for (int i = 0; status == SRCFIND_OK && i < n; i++) {
        struct entry_model *model = &m->models[entry[i]];
        const struct tensor point = psf_at(&m->psf, at[i].x, at[i].y);
        model->gaussian.x = at[i].x;
        model->gaussian.y = at[i].y;
        model->moments = moments[i];
        if (is_known(&wholes[i])) {
            m->wholes[entry[i]] = wholes[i];
            if (shapes[entry[i]].psf.major > 0)
                compare_told(m, &shapes[entry[i]].psf);
            else if (!m->positions->told.are_whole)
                compare_beam(m, model, &wholes[i], &point);
        }
    }
    return status;
}

/* Finds places and shapes of n entries, from the first on. */
static enum srcfind_status place_entries(struct entry_work *m, int64_t first, int n,
                                         struct error *error) {
    const struct position_shape *shapes = m->positions->shapes;
    struct forced_position at[AT_ONCE] = {{0}};
    double x[AT_ONCE], y[AT_ONCE];
    int64_t entry[AT_ONCE];
    int n_known = 0;
    const enum srcfind_status status = find_pixels(m, first, n, x, y, error);
    for (int i = 0; status == SRCFIND_OK && i < n; i++) {
        if (isnan(x[i]))
            continue;
        at[n_known] = (struct forced_position){.x = x[i], .y = y[i]};
        if (shapes)
            at[n_known].intrinsic = intrinsic_of(m, first + i);
        entry[n_known++] = first + i;
    }
    return status == SRCFIND_OK ? set_shapes(m, n_known, entry, at, error) : status;
}

/* --- fluxes --- */

/* The background beneath a row of a scale, from the catalogue's, which is per effective beam. */
static double background_of(const struct entry_work *m, const struct position_flux *told) {
    const struct tensor *beam = &m->psf.beam;
    const double sigma = told->scale * beam_frame_fwhm(beam) / FIT_FWHM;
    const struct grid grid = {
        .scale = told->scale, .step = 1, .variance = sigma * sigma, .beam = *beam};
    const bool per_pixel = m->view->image->per_pixel;
    return told->beneath / (grid_unit(&grid) * (per_pixel ? m->view->metadata->beam_pixels : 1));
}

/* Whether all entries tell that the catalogue's beam is that of the image. */
static bool is_own(const struct entry_work *m) {
    return m->n_same > 0 && m->n_other == 0;
}

/* The area of an entry's Gaussian, pixels. Where it tells its beam, too, the area is as many beams
 * as on the sky, which is how Aegean makes a flux of a peak: far from the reference pixel, pixels
 * are of another size. */
static double area_of(const struct entry_work *m, int64_t i) {
    const struct position_shape *shapes = m->positions->shapes;
    const struct tensor *moments = &m->models[i].moments;
    if (!is_own(m) || !is_known(&m->wholes[i]) || !(shapes[i].psf.minor > 0))
        return 2 * M_PI * sqrt(tensor_determinant(moments));
    const struct srcfind_beam *whole = &shapes[i].whole, *beam = &shapes[i].psf;
    return m->view->metadata->beam_pixels * (whole->major / beam->major) *
           (whole->minor / beam->minor);
}

static void set_flux(const struct entry_work *m, int64_t i) {
    const struct position_flux *told = &m->positions->fluxes[i];
    struct entry_model *model = &m->models[i];
    if ((is_own(m) || m->positions->told.are_whole) && is_known(&m->wholes[i]))
        model->moments = m->wholes[i];
    model->scale = told->scale;
    model->background = told->scale > 0 ? background_of(m, told) : (double)NAN;
    model->is_too_wide = isfinite(model->gaussian.x) &&
                         !(FIT_FWHM * sqrt(tensor_axes(&model->moments).major) <= m->widest);
    if (told->is_unfitted || model->is_too_wide || !is_known(&model->moments))
        return;
    const double area = area_of(m, i);
    const double peak = isfinite(told->total) ? told->total / (area * m->to_flux)
                                              : told->of_point / m->units.per_peak;
    if (!isfinite((float)peak))
        return;
    model->total_flux = isfinite(told->total) ? told->total : peak * area * m->to_flux;
    model->gaussian.peak = peak;
    model->gaussian.form = tensor_inverse(&model->moments);
}

/* --- all of it --- */

static const struct entry_model NOTHING = {
    .gaussian = {.peak = NAN, .x = NAN, .y = NAN, .form = {NAN, NAN, NAN}},
    .moments = {NAN, NAN, NAN},
    .total_flux = NAN,
    .background = NAN};

enum srcfind_status entry_models_make(const struct view *view, const struct fit_frame *frame,
                                      const struct positions *positions,
                                      struct entry_model **models, struct error *error) {
    const int64_t n = positions->n;
    struct entry_work m = {.view = view,
                           .positions = positions,
                           .psf = setting_psf(view, frame),
                           .units = entry_models_units(view),
                           .to_flux = setting_to_flux(view->image, view->metadata),
                           .models = arrays_allocate(n, sizeof *m.models),
                           .wholes = arrays_allocate(n, sizeof *m.wholes)};
    m.widest = place_widest(&m.psf.beam, view->source->width, view->source->height);
    enum srcfind_status status =
        m.models && m.wholes ? SRCFIND_OK : error_memory(error, "making a model");
    for (int64_t i = 0; status == SRCFIND_OK && i < n; i++) {
        m.models[i] = NOTHING;
        m.wholes[i] = NOTHING.moments;
    }
    for (int64_t i = 0; status == SRCFIND_OK && i < n; i += AT_ONCE)
        status = place_entries(&m, i, (int)(n - i < AT_ONCE ? n - i : AT_ONCE), error);
    for (int64_t i = 0; status == SRCFIND_OK && i < n; i++)
        set_flux(&m, i);
    free(m.wholes);
    *models = m.models;
    return status;
}

static bool reaches(const struct gaussian *g, const struct pixel_source *image) {
    const double width = gaussian_width(g), height = gaussian_height(g);
    return isfinite(g->peak) && g->x + width >= 0 && g->y + height >= 0 &&
           g->x - width <= (double)image->width - 1 && g->y - height <= (double)image->height - 1;
}

struct gaussian *entry_models_list(const struct entry_model *models, int64_t n,
                                   const struct pixel_source *image, int64_t *n_gaussians) {
    *n_gaussians = 0;
    for (int64_t i = 0; i < n; i++)
        *n_gaussians += reaches(&models[i].gaussian, image);
    struct gaussian *list = arrays_allocate(*n_gaussians, sizeof *list);
    for (int64_t i = 0, k = 0; list && i < n; i++)
        if (reaches(&models[i].gaussian, image))
            list[k++] = models[i].gaussian;
    return list;
}
