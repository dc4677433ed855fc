/* How completeness is measured:
 *
 * 1. The beam gives shape and flux of a point source in both images.
 * 2. Trials are planned, and S/N and position of each source are drawn (injections.c); or the
 *    sources of a file are taken, and divided among trials (inject_file.c).
 * 3. A source gets the same flux in both images or, if these are two forms of one image, the same
 *    S/N. Its Gaussians are kept beside its position.
 * 4. Each trial repeats the whole search, its noise too, on pixels to which the Gaussians of the
 *    trial are added as they are read (measure/injected.c). Each injected source is looked for in
 *    the rows of its trial (measure/row_index.c), and compared with the rows of the first search.
 *
 * The rows of the catalogue stay as they are. A seed always gives the same sources.
 * Costs a search for each trial, 64 at most unless they are of a file, and the memory of the rows
 * of one trial. */
#include "api/completeness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/inject_file.h"
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

/* In beams; the width of a point of a file is rounded. */
static const double WIDE = 1 + 1e-6;

struct trials {
    const struct search *search;
    struct run_source measured, detected; /* the pixels of both views */
    struct injections *list;
    struct injection_position *positions;
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

/* The form of a source in an image. */
static struct tensor form_of(const struct injector *injector, const struct injection *source,
                             const struct injection_position *position) {
    const struct tensor moments = psf_at(&injector->psf, position->x, position->y);
    const struct tensor form = tensor_inverse(&moments);
    const double square = source->width * source->width;
    return (struct tensor){form.xx / square, form.yy / square, form.xy / square};
}

/* Sets Gaussians and true flux of a random source, whose S/N refers to the rms of the image for
 * detection. With two images of one flux, smearing lowers the peak in the measured one. */
static void set_random(const struct trials *t, int64_t i) {
    struct injection *source = &t->list->all[i];
    struct injection_position *p = &t->positions[i];
    const struct tensor moments = psf_at(&t->measure.psf, p->x, p->y);
    const double area = psf_area(&t->measure.psf, &moments); /* of a point, in that of the beam */
    const double smeared = t->search->views->are_two ? 1 / area : 1;
    p->peak_detected = source->snr * p->rms_detected / source->width;
    p->peak = isnan(t->factor) ? p->peak_detected * p->rms / p->rms_detected
                               : p->peak_detected * t->factor * smeared;
    p->form = form_of(&t->measure, source, p);
    p->form_detected = form_of(&t->detect, source, p);
    source->flux = p->peak * source->width * source->width * t->measure.per_peak * area;
}

/* Sets the Gaussian of a source of a file in the image for detection, and its S/N there. */
static void set_of_file(const struct trials *t, int64_t i) {
    struct injection *source = &t->list->all[i];
    struct injection_position *p = &t->positions[i];
    const struct tensor measured = tensor_inverse(&p->form);
    const struct tensor detected = tensor_inverse(&p->form_detected);
    const double areas = psf_area(&t->measure.psf, &measured) / psf_area(&t->detect.psf, &detected);
    p->peak_detected = !t->search->views->are_two ? p->peak
                       : isnan(t->factor)         ? p->peak * p->rms_detected / p->rms
                                                  : p->peak / t->factor * areas;
    source->snr = p->peak_detected * source->width / p->rms_detected;
}

/* Sets the Gaussians and the true values of all sources. */
static void set_sources(const struct trials *t) {
    const bool are_of_file = *t->search->options->inject;
    for (int64_t i = 0; i < t->list->n; i++) {
        struct injection *source = &t->list->all[i];
        if (!source->is_added)
            continue;
        if (are_of_file)
            set_of_file(t, i);
        else
            set_random(t, i);
        source->x = t->positions[i].x;
        source->y = t->positions[i].y;
    }
}

/* Lists the Gaussians of the sources of a trial, in both images. */
static void list_gaussians(const struct trials *t, const int64_t *sources, int64_t n,
                           struct gaussian *measured, struct gaussian *detected) {
    for (int64_t k = 0; k < n; k++) {
        const struct injection_position *p = &t->positions[sources[k]];
        measured[k] = (struct gaussian){p->peak, p->x, p->y, p->form};
        detected[k] = (struct gaussian){p->peak_detected, p->x, p->y, p->form_detected};
    }
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
    if (w->source->width > WIDE)
        return row->total_flux - (before ? before->total_flux : 0) >= w->source->flux / 2;
    return !before || row->peak_flux - before->peak_flux >= w->gaussian.peak / 2;
}

static bool is_any(const void *context, const struct srcfind_source *row) {
    (void)context;
    (void)row;
    return true;
}

/* Whether a source of the image lies within half a beam of an injected one. */
static bool is_on_source(const struct trials *t, const struct injection_position *p) {
    const struct tensor moments = psf_at(&t->measure.psf, p->x, p->y);
    const struct tensor form = tensor_inverse(&moments);
    return row_index_nearest(&t->before, &form, p->x, p->y, is_any, NULL);
}

static void find_source(const struct trials *t, const struct row_index *rows, int64_t i) {
    struct injection *source = &t->list->all[i];
    const struct injection_position *position = &t->positions[i];
    t->list->n_on_sources += is_on_source(t, position);
    const struct wanted w = {t, source, {position->peak, position->x, position->y, position->form}};
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

/* Keeps the Gaussians of the first trial, for the map of the image with them. */
static bool keep_first(const struct trials *t, const struct gaussian *measured, int64_t n) {
    t->list->first = arrays_allocate(n, sizeof *t->list->first);
    if (t->list->first && n > 0)
        memcpy(t->list->first, measured, (size_t)n * sizeof *measured);
    t->list->n_first = t->list->first ? n : 0;
    return t->list->first;
}

/* Carries out the trial of n sources, 1 or more. */
static enum srcfind_status run_trial(const struct trials *t, const int64_t *of_trial, int64_t n) {
    struct gaussian *measured = arrays_allocate(n, sizeof *measured);
    struct gaussian *detected = arrays_allocate(n, sizeof *detected);
    struct sources found = {0};
    struct row_index rows = {0};
    enum srcfind_status status = SRCFIND_OK;
    if (measured && detected)
        list_gaussians(t, of_trial, n, measured, detected);
    if (!measured || !detected || (!t->list->first && !keep_first(t, measured, n)))
        status = error_memory(t->error, "adding sources to an image");
    if (status == SRCFIND_OK)
        status = search_with(t, measured, detected, n, &found);
    if (status == SRCFIND_OK &&
        !row_index_make(&rows, found.rows, found.n, t->search->finder->threads))
        status = error_memory(t->error, "looking for injected sources");
    for (int64_t k = 0; status == SRCFIND_OK && k < n; k++)
        find_source(t, &rows, of_trial[k]);
    row_index_clear(&rows);
    sources_clear(&found);
    free(measured);
    free(detected);
    return status;
}

/* Lists the sources that are added, trial by trial: those of trial i, from 1, are order[first[i]]
 * to order[first[i + 1] - 1]. */
static void sort_by_trial(const struct injections *list, int64_t *first, int64_t *order) {
    memset(first, 0, (size_t)(list->n_trials + 2) * sizeof *first);
    for (int64_t i = 0; i < list->n; i++)
        if (list->all[i].is_added)
            first[list->all[i].trial + 1]++;
    for (int64_t i = 0; i <= list->n_trials; i++)
        first[i + 1] += first[i];
    for (int64_t i = 0; i < list->n; i++)
        if (list->all[i].is_added)
            order[first[list->all[i].trial]++] = i;
    memmove(first + 1, first, (size_t)(list->n_trials + 1) * sizeof *first);
}

/* Carries out all trials that have sources. */
static enum srcfind_status run_trials(const struct trials *t) {
    const int64_t n_trials = t->list->n_trials;
    int64_t *first = arrays_allocate(n_trials + 2, sizeof *first);
    int64_t *order = arrays_allocate(t->list->n, sizeof *order);
    enum srcfind_status status =
        first && order ? SRCFIND_OK : error_memory(t->error, "adding sources to an image");
    if (status == SRCFIND_OK)
        sort_by_trial(t->list, first, order);
    for (int64_t i = 1; status == SRCFIND_OK && i <= n_trials; i++)
        if (first[i + 1] > first[i])
            status = run_trial(t, order + first[i], first[i + 1] - first[i]);
    free(first);
    free(order);
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
    injections_plan(list, views_searched(b, view->detection.unsearched),
                    view->metadata->beam_pixels, plans);
    list->n_a_width = 0;
    for (int i = 0; i < list->n_widths; i++)
        list->n_a_width = plans[i].n > list->n_a_width ? plans[i].n : list->n_a_width;
}

/* Makes the list of sources, and finds their positions. */
static enum srcfind_status find_sources_to_add(struct trials *t,
                                               const struct injection_field *field) {
    struct threads *threads = t->search->finder->threads;
    struct injection_plan plans[SCALES_MOST + 1];
    if (*t->search->options->inject)
        return inject_file_read(t->search, field, t->list, &t->positions, t->error);
    plan_trials(t, plans);
    return injections_draw(t->list, plans, field, threads, &t->positions, t->error);
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
        status = find_sources_to_add(&t, &field);
    if (status == SRCFIND_OK) {
        t.factor = factor_of(&t);
        set_sources(&t);
    }
    if (status == SRCFIND_OK &&
        !row_index_make(&t.before, search->sources->rows, search->sources->n, threads))
        status = error_memory(t.error, "looking for injected sources");
    if (status == SRCFIND_OK)
        status = run_trials(&t);
    row_index_clear(&t.before);
    free(t.positions);
    return status;
}
