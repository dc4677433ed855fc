/* How completeness is measured:
 *
 * 1. The beam gives shape and flux of a point source in both images.
 * 2. Trials are planned, and S/N and position of each source are drawn (injections.c).
 * 3. A source gets the same flux in both images or, if these are two forms of one image, the same
 *    S/N.
 * 4. Each trial repeats the whole search, its noise too, on pixels to which the Gaussians of the
 *    trial are added as they are read (measure/injected.c). Each injected source is looked for in
 *    the rows of its trial (measure/row_index.c), and compared with the rows of the first search.
 *
 * The rows of the catalogue stay as they are. A seed always gives the same sources.
 * Costs a search for each trial, 64 at most, and the memory of the rows of one trial. */
#include "api/completeness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/injections.h"
#include "api/scales.h"
#include "common/arrays.h"
#include "input/units.h"
#include "measure/beam_frame.h"
#include "measure/injected.h"
#include "measure/row_index.h"
#include "measure/setting.h"

/* Shape and flux of injected point sources in an image. */
struct injector {
    struct psf psf;  /* of the view, to which its nodes belong */
    double per_peak; /* total flux / peak of a point of the beam's shape */
};

struct trials {
    const struct search *search;
    struct run_source measured, detected; /* the pixels of both views */
    struct injections *list;
    const struct injection_position *positions;
    struct injector measure, detect;
    /* Peak in the measured image / peak in the image for detection; NaN: the ratio of their rms. */
    double factor;
    struct row_index before;
    struct error *error;
};

/* --- the sources of a trial --- */

static enum srcfind_status injector_make(const struct view *view, const struct options *options,
                                         struct injector *injector, struct error *error) {
    const struct image *image = view->image;
    struct fit_frame frame;
    const enum srcfind_status status = sources_frame(view, options, &frame, error);
    if (status != SRCFIND_OK)
        return status;
    injector->psf = setting_psf(view, &frame);
    const double area = 2 * M_PI * sqrt(tensor_determinant(&injector->psf.beam)); /* pixels */
    injector->per_peak = (image->per_pixel ? area : area / view->metadata->beam_pixels) *
                         (isfinite(image->jansky) ? image->jansky : 1);
    return SRCFIND_OK;
}

/* The Gaussian of a source in an image. */
static struct gaussian gaussian_of(const struct injector *injector, const struct injection *source,
                                   const struct injection_position *position, double peak) {
    const struct tensor moments = psf_at(&injector->psf, position->x, position->y);
    const struct tensor form = tensor_inverse(&moments);
    const double square = source->width * source->width;
    return (struct gaussian){
        peak, position->x, position->y, {form.xx / square, form.yy / square, form.xy / square}};
}

/* The peak in the image for detection: the S/N refers to its rms. */
static double detected_peak(const struct injection *source,
                            const struct injection_position *position) {
    return source->snr * position->rms_detected / source->width;
}

/* Whether most pixels have the same S/N in both images. These are then one image in two forms, such
 * as with and without correction for the primary beam, or in units of the rms. */
static bool are_one_image(const struct trials *t) {
    int64_t n = 0, n_alike = 0;
    for (int64_t i = 0; i < t->list->n; i++) {
        const struct injection_position *p = &t->positions[i];
        if (!t->list->all[i].is_added)
            continue;
        const double alike = p->value / p->rms - p->value_detected / p->rms_detected;
        n++;
        n_alike += fabs(alike) < 0.1;
    }
    return 2 * n_alike > n;
}

/* A source has the same flux in two images of the same sky, if their units can be converted, and
 * the same S/N in two forms of one image. */
static double factor_of(const struct trials *t) {
    const struct views *views = t->search->views;
    double factor = 1;
    if (!views->are_two)
        return 1;
    const char *unit = views->measure.unit, *other = views->other.unit;
    const bool is_known = strcmp(other, unit) == 0 || units_conform(other, unit, &factor);
    return is_known && !are_one_image(t) ? factor : (double)NAN;
}

/* The area of a point at source i in the measured image / that of the beam. */
static double area_of_point(const struct trials *t, int64_t i) {
    const struct tensor moments = psf_at(&t->measure.psf, t->positions[i].x, t->positions[i].y);
    return psf_area(&t->measure.psf, &moments);
}

/* The peak of source i in the measured image. With two images of one flux, smearing lowers it. */
static double measured_peak(const struct trials *t, int64_t i) {
    const struct injection_position *position = &t->positions[i];
    const double peak = detected_peak(&t->list->all[i], position);
    const double smeared = t->search->views->are_two ? 1 / area_of_point(t, i) : 1;
    return isnan(t->factor) ? peak * position->rms / position->rms_detected
                            : peak * t->factor * smeared;
}

/* Sets the true fluxes of all sources. */
static void set_fluxes(const struct trials *t) {
    for (int64_t i = 0; i < t->list->n; i++) {
        struct injection *source = &t->list->all[i];
        if (!source->is_added)
            continue;
        source->flux = measured_peak(t, i) * source->width * source->width * t->measure.per_peak *
                       area_of_point(t, i);
        source->x = t->positions[i].x;
        source->y = t->positions[i].y;
    }
}

/* Lists the Gaussians of the sources [first, end) that are added, in both images. Returns their
 * number. */
static int64_t list_gaussians(const struct trials *t, int64_t first, int64_t end,
                              struct gaussian *measured, struct gaussian *detected) {
    int64_t n = 0;
    for (int64_t i = first; i < end; i++) {
        const struct injection *source = &t->list->all[i];
        const struct injection_position *position = &t->positions[i];
        if (!source->is_added)
            continue;
        measured[n] = gaussian_of(&t->measure, source, position, measured_peak(t, i));
        detected[n++] = gaussian_of(&t->detect, source, position, detected_peak(source, position));
    }
    return n;
}

/* --- injected sources that were found --- */

/* An injected source that is looked for among the rows of its trial. */
struct wanted {
    const struct trials *trials;
    const struct injection *source;
    struct gaussian gaussian;
};

static bool has_same_scale(const void *context, const struct srcfind_source *row) {
    const struct srcfind_source *other = context;
    return row->scale == other->scale;
}

/* The row of the search without injected sources that lies where `row` does; NULL: there is none.
 */
static const struct srcfind_source *row_before(const struct wanted *w,
                                               const struct srcfind_source *row) {
    return row_index_nearest(&w->trials->before, &w->gaussian.form, row->x, row->y, has_same_scale,
                             row);
}

/* Whether a row has at least half of the injected source, beyond the row that was there before. A
 * wide source is compared by its total flux: its peak is so low that any row on the source rises by
 * as much, and noise on the source makes rows of small parts of the source. */
static bool is_new(const void *context, const struct srcfind_source *row) {
    const struct wanted *w = context;
    const struct srcfind_source *before = row_before(w, row);
    if (w->source->width > 1)
        return row->total_flux - (before ? before->total_flux : 0) >= w->source->flux / 2;
    return !before || row->peak_flux - before->peak_flux >= w->gaussian.peak / 2;
}

static void find_source(const struct trials *t, const struct row_index *rows, int64_t i) {
    struct injection *source = &t->list->all[i];
    const struct injection_position *position = &t->positions[i];
    const struct wanted w = {t, source,
                             gaussian_of(&t->measure, source, position, measured_peak(t, i))};
    const struct srcfind_source *row =
        row_index_nearest(rows, &w.gaussian.form, position->x, position->y, is_new, &w);
    if (!row)
        return;
    const struct srcfind_source *before = row_before(&w, row);
    source->is_found = true;
    source->ratio = (row->total_flux - (before ? before->total_flux : 0)) / source->flux;
    source->dx = row->x - position->x;
    source->dy = row->y - position->y;
    source->flux_pull = (source->ratio - 1) * source->flux / row->e_total_flux;
    source->x_pull = source->dx / row->e_x;
    source->y_pull = source->dy / row->e_y;
}

/* --- trials --- */

/* Searches the image with n Gaussians in it. */
static enum srcfind_status search_with(const struct trials *t, const struct gaussian *measured,
                                       const struct gaussian *detected, int64_t n,
                                       struct sources *found) {
    struct search again = *t->search;
    struct views views = views_again(again.views);
    struct injected in_measure = {0}, in_other = {0};
    struct pixel_source pixels, pixels_of_other;
    enum srcfind_status status = SRCFIND_OK;
    if (!injected_source(&in_measure, views.measure.source, measured, n, &pixels) ||
        (views.are_two &&
         !injected_source(&in_other, views.other.source, detected, n, &pixels_of_other)))
        status = error_memory(t->error, "adding sources to an image");
    views.measure.source = &pixels;
    if (views.are_two)
        views.other.source = &pixels_of_other;
    again.views = &views;
    again.labels = 0;
    again.psf = NULL;
    again.sources = found;
    if (status == SRCFIND_OK)
        status = search_run(&again);
    views_clear(&views);
    injected_clear(&in_measure);
    injected_clear(&in_other);
    return status;
}

/* Carries out the trial of the sources [first, end). */
static enum srcfind_status run_trial(const struct trials *t, int64_t first, int64_t end) {
    struct gaussian *measured = arrays_allocate(end - first, sizeof *measured);
    struct gaussian *detected = arrays_allocate(end - first, sizeof *detected);
    struct sources found = {0};
    struct row_index rows = {0};
    enum srcfind_status status = SRCFIND_OK;
    if (measured && detected) {
        const int64_t n = list_gaussians(t, first, end, measured, detected);
        status = n > 0 ? search_with(t, measured, detected, n, &found) : SRCFIND_OK;
    } else {
        status = error_memory(t->error, "adding sources to an image");
    }
    if (status == SRCFIND_OK &&
        !row_index_make(&rows, found.rows, found.n, t->search->finder->threads))
        status = error_memory(t->error, "looking for injected sources");
    for (int64_t i = first; status == SRCFIND_OK && i < end; i++)
        if (t->list->all[i].is_added)
            find_source(t, &rows, i);
    row_index_clear(&rows);
    sources_clear(&found);
    free(measured);
    free(detected);
    return status;
}

/* Carries out the trials of all widths. */
static enum srcfind_status run_trials(const struct trials *t, const struct injection_plan *plans) {
    enum srcfind_status status = SRCFIND_OK;
    for (int k = 0; k < t->list->n_widths; k++) {
        const struct injection_plan *plan = &plans[k];
        const int64_t first = k * t->list->n_a_width;
        for (int64_t i = 0; status == SRCFIND_OK && i < plan->n; i += plan->n_a_trial) {
            const int64_t end = i + plan->n_a_trial < plan->n ? i + plan->n_a_trial : plan->n;
            status = run_trial(t, first + i, first + end);
        }
    }
    return status;
}

/* The pixels of a view, read on the host: the device was given back. */
static struct run_source pixels_on_host(const struct view *view) {
    return (struct run_source){
        .source = view->source, .noise = &view->result.noise, .user = view->detection.maps};
}

/* The list before sources are drawn: point sources, and as many of the width of each scale. */
static struct injections empty_list(const struct trials *t) {
    const struct options *o = t->search->options;
    struct injections list = {.n_a_width = o->completeness, .widths = {1}, .n_widths = 1};
    for (int i = 0; i < o->scales.n; i++)
        if (o->scales.fwhm[i] > 1 && !scale_is_too_wide(o->scales.fwhm[i], &t->measure.psf.beam,
                                                        t->search->views->measure.metadata))
            list.widths[list.n_widths++] = o->scales.fwhm[i];
    return list;
}

/* Plans the trials. The list gets the number of sources a width that have room. */
static void plan_trials(const struct trials *t, struct injection_plan *plans) {
    const struct view *view = &t->search->views->measure;
    const struct srcfind_background *b = &view->result.background;
    struct injections *list = t->list;
    *list = empty_list(t);
    injections_plan(list, backend_searched(b, view->detection.unsearched),
                    view->metadata->beam_pixels, plans);
    list->n_a_width = 0;
    for (int i = 0; i < list->n_widths; i++)
        list->n_a_width = plans[i].n > list->n_a_width ? plans[i].n : list->n_a_width;
}

static enum srcfind_status make_injectors(struct trials *t) {
    struct views *views = t->search->views;
    const enum srcfind_status status =
        injector_make(&views->measure, t->search->options, &t->measure, t->error);
    return status == SRCFIND_OK
               ? injector_make(views_detect(views), t->search->options, &t->detect, t->error)
               : status;
}

enum srcfind_status completeness_measure(const struct search *search, struct injections *list) {
    struct injection_plan plans[SCALES_MOST + 1];
    struct injection_position *positions = NULL;
    struct threads *threads = search->finder->threads;
    const struct view *view = &search->views->measure;
    struct trials t = {.search = search,
                       .measured = pixels_on_host(view),
                       .detected = pixels_on_host(views_detect(search->views)),
                       .list = list,
                       .error = &search->finder->error};
    const struct injection_field field = {.measure = &t.measured,
                                          .detect =
                                              search->views->are_two ? &t.detected : &t.measured,
                                          .unsearched = view->detection.unsearched,
                                          .width = view->metadata->width,
                                          .height = view->metadata->height,
                                          .seed = (uint64_t)options_seed(search->options)};
    enum srcfind_status status = make_injectors(&t);
    if (status == SRCFIND_OK)
        plan_trials(&t, plans);
    if (status == SRCFIND_OK)
        status = injections_draw(list, plans, &field, threads, &positions, t.error);
    t.positions = positions;
    if (status == SRCFIND_OK)
        t.factor = factor_of(&t);
    if (status == SRCFIND_OK &&
        !row_index_make(&t.before, search->sources->rows, search->sources->n, threads))
        status = error_memory(t.error, "looking for injected sources");
    if (status == SRCFIND_OK)
        set_fluxes(&t);
    if (status == SRCFIND_OK)
        status = run_trials(&t, plans);
    row_index_clear(&t.before);
    free(positions);
    return status;
}
