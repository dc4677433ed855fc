/* How a search works:
 *
 * 1. It chooses a GPU or the CPU. If the user did not ask for a GPU, the CPU takes over from a GPU
 *    that is busy or fails.
 * 2. The backend finds noise and islands in the view for detection. With two images the noise of
 *    the measured image is found first: both reads add their blank pixels to the common bitmap.
 * 3. Rows are made of the islands (sources.c), with the pixels of the measured image.
 * 4. With a fit, rows that may be artefacts of brighter ones get their flag (measure/artefacts.c).
 * 5. If it is wanted, bright rows tell the point-spread function (measure/psf_points.c).
 * 6. Each scale is searched as the image was: the image less all Gaussians so far is smoothed, and
 *    its samples are views of their own. With two images each has its own Gaussians. Its islands
 *    are sources, join sources that were found before, or are neither (scale_islands.h).
 *
 * An image is read once for the clip, twice for what is left out of the boxes of local noise, once
 * for its nodes, in part for the autocorrelation of its noise, once for islands between the nodes,
 * once for the pixels of islands, in part for artefacts, and once for each scale; once in all on a
 * GPU that has room for the image. */
#include "api/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/join.h"
#include "api/scales.h"
#include "common/arrays.h"
#include "common/clock.h"
#include "gpu/module.h"
#include "measure/artefacts.h"
#include "measure/beam_frame.h"
#include "measure/noise_pairs.h"
#include "measure/psf_fit.h"
#include "measure/scale_islands.h"

/* A search on the backend that was chosen. */
struct backend_search {
    const struct search *search;
    struct backend_calls calls;
    /* The Gaussians that were found so far, in the measured image and in that for detection: less
     * these the images are smoothed for the next scale. */
    struct sources in_measured, in_other;
    const struct positions *positions; /* to measure at, in place of islands */
};

/* --- the choice of a backend --- */

/* Records which backend is used, and why. */
static void record_backend(struct srcfind_run *run, const char *backend, const char *device,
                           const char *reason) {
    run->backend = backend;
    snprintf(run->device, sizeof run->device, "%s", device);
    snprintf(run->reason, sizeof run->reason, "%.*s", (int)sizeof run->reason - 1, reason);
}

static struct search_work work_of(const struct backend_search *b) {
    const struct search *s = b->search;
    const struct pixel_source *source = s->views->measure.source;
    return (struct search_work){.n_pixels = (double)source->width * (double)source->height,
                                .is_local = s->views->measure.detection.box > 0,
                                .has_two_images = s->views->are_two,
                                .divides = !b->positions && views_need_pixels(s->views, s->options),
                                .fits = options_fit(s->options),
                                .is_packed = source->packed};
}

/* The reason to use the CPU without trying a GPU; NULL if a GPU is to be tried. *wait: whether the
 * search waits for a GPU that is busy. */
static const char *reason_for_cpu(const struct backend_search *b, enum gpu_wait *wait) {
    const struct search *s = b->search;
    const struct srcfind *f = s->finder;
    const bool on_device = s->views->measure.on_device;
    if (!f->gpu)
        return s->options->device == DEVICE_CPU ? "as asked" : "built without CUDA";
    if (noise_sources_exist(&s->views->measure.detection.maps) ||
        noise_sources_exist(&s->views->other.detection.maps))
        return "maps of the noise";
    if (views_detect(s->views)->detection.unsearched)
        return "regions of --mask";
    *wait = on_device ? GPU_WAIT_FIRST : GPU_WAIT;
    if (on_device || finder_wants_gpu(s->options))
        return NULL;
    if (!gpu_driver_exists())
        return "no other device";
    const struct search_work work = work_of(b);
    const enum backend_choice choice = gpu_choose(f->gpu, &work, s->options->threads);
    *wait = choice == CHOOSE_GPU_IF_FREE ? GPU_IF_FREE : GPU_WAIT;
    return choice == CHOOSE_CPU ? "too few pixels for a GPU" : NULL;
}

/* --- from pixels to islands --- */

/* Detects in a view. A device holds one image at a time: the image of the last view. */
static enum srcfind_status detect_in(const struct backend_search *b, struct view *view,
                                     const struct detection *detection) {
    struct srcfind_timings *all = &b->search->report->timings;
    view_clear(view);
    const enum srcfind_status status =
        backend_detect(&b->calls, view->source, view->on_device, detection, &view->result);
    const struct srcfind_timings *t = &view->result.timings;
    all->transfer += t->transfer;
    all->scan += t->scan;
    all->clip += t->clip;
    all->islands += t->islands;
    all->clip_method = t->clip_method;
    return status;
}

/* Finds the noise of the image that is measured, where islands are found in another one. */
static enum srcfind_status find_noise(const struct backend_search *b, struct view *view) {
    const struct detection noise = noise_detection(view->detection);
    const enum srcfind_status status = detect_in(b, view, &noise);
    segments_clear(&view->result.segments);
    view->result.is_on_device = false;
    if (view->result.background.empty && !(view->detection.rms > 0)) /* the image has no noise */
        view->result.noise.rms = NAN;
    return status;
}

/* Finds islands, and the noise of both images. Pixels that are blank in the image for detection
 * alone are known only when it was read: the noise of the other image is then found again. */
static enum srcfind_status detect(const struct backend_search *b, struct views *v) {
    if (!v->are_two)
        return detect_in(b, &v->measure, &v->measure.detection);
    enum srcfind_status status = find_noise(b, &v->measure);
    v->blanks->n_added = 0;
    if (status == SRCFIND_OK)
        status = detect_in(b, &v->other, &v->other.detection);
    if (status != SRCFIND_OK)
        return status;
    v->blanks->is_complete = true;
    if (v->blanks->n_added == 0)
        return status;
    v->other.result.is_on_device = false;
    return find_noise(b, &v->measure);
}

/* Finds the autocorrelation of the noise of a view, unless it is known: as the image has it where
 * fits need it, else as it would follow from the beam. */
static enum srcfind_status find_correlation(struct backend_search *b, struct view *view) {
    const struct run_source pixels = view_pixels(view, &b->calls);
    struct fit_frame frame;
    if (view->has_correlation)
        return SRCFIND_OK;
    enum srcfind_status status =
        beam_frame_make(view->image, view->metadata, &frame, b->calls.error);
    if (status != SRCFIND_OK)
        return status;
    frame = grid_frame(view->grid, &frame, 2);
    view->correlation = correlation_of_beam(&frame);
    if (options_fit(b->search->options))
        status = noise_pairs_measure(&pixels, b->calls.threads, &view->correlation, b->calls.error);
    view->has_correlation = status == SRCFIND_OK;
    return status;
}

/* Finds islands, noise, and the autocorrelation of the noise. */
static enum srcfind_status detect_with_correlation(struct backend_search *b, struct views *v) {
    enum srcfind_status status = detect(b, v);
    const double start = clock_seconds();
    if (status == SRCFIND_OK)
        status = find_correlation(b, &v->measure);
    if (status == SRCFIND_OK && v->are_two)
        status = find_correlation(b, &v->other);
    b->search->report->timings.correlation += clock_seconds() - start;
    return status;
}

/* --- from islands to rows --- */

/* Keeps what the errors of forced fluxes follow from. */
static bool keep_noise(const struct view *view, const struct fit_frame *frame,
                       struct sources *sources) {
    sources->at_noise = malloc(sizeof *sources->at_noise);
    if (sources->at_noise)
        *sources->at_noise = (struct at_noise){*frame, view->correlation};
    return sources->at_noise;
}

/* Finds the beam, which fits and models at given positions need. */
static enum srcfind_status find_frame_at(const struct backend_search *b, struct fit_frame *frame) {
    const struct view *view = &b->search->views->measure;
    const struct options *o = b->search->options;
    const enum srcfind_status status = sources_frame(view, o, frame, b->calls.error);
    if (status != SRCFIND_OK || !options_fit(o) || frame->has_beam)
        return status;
    return sources_no_beam(
        view->metadata, SRCFIND_ERROR_OPTIONS,
        o->at_fixed      ? "--at-fixed needs the beam"
        : o->fit         ? "--at with --fit needs the beam"
        : o->at_positive ? "--at-positive needs the beam"
                         : "--at with --measure-in needs the beam",
        o->at_fixed      ? "leave --at-fixed and --fit out to get pixel values at the positions"
        : o->fit         ? "leave --fit out to get pixel values at the positions"
        : o->at_positive ? "leave --at-positive out"
                         : "leave --measure-in out",
        b->calls.error);
}

/* Measures at the positions that are given. */
static enum srcfind_status measure_at(struct backend_search *b, struct sources *sources) {
    const struct view *view = &b->search->views->measure;
    const struct options *o = b->search->options;
    const struct run_source pixels = view_pixels(view, &b->calls);
    struct fit_frame frame;
    struct entry_model *models = NULL;
    struct at_rows made = {0};
    enum srcfind_status status = find_frame_at(b, &frame);
    if (status == SRCFIND_OK && o->at_fixed)
        status = entry_models_make(view, &frame, b->positions, &models, b->calls.error);
    const struct at_rows_from from = {.view = view,
                                      .pixels = &pixels,
                                      .positions = b->positions,
                                      .frame = &frame,
                                      .fits = options_fit(o) && !o->at_fixed,
                                      .models = models,
                                      .all = o->at_all,
                                      .positive = o->at_positive};
    if (status == SRCFIND_OK && from.fits && !keep_noise(view, &frame, sources))
        status = error_memory(b->calls.error, "keeping the noise");
    if (status == SRCFIND_OK)
        status = at_rows_make(&from, b->calls.threads, &made, b->calls.error);
    free(models);
    sources->rows = made.rows;
    sources->n = sources->n_entries = made.n;
    sources->gaussians = made.gaussians;
    sources->n_gaussians = made.n_gaussians;
    sources->left_out = made.left_out;
    return status;
}

/* Makes rows of the islands. If their pixels are not needed again, the device is given back first.
 */
static enum srcfind_status make_rows(struct backend_search *b, struct views *views, unsigned labels,
                                     struct sources *sources) {
    const struct search *s = b->search;
    if (b->positions)
        return measure_at(b, sources);
    if (!views_need_pixels(views, s->options))
        backend_give(&b->calls, s->finder->gpu);
    return sources_make(views, s->options, &b->calls, labels, sources);
}

/* Fits the islands in the image for detection, and keeps the Gaussians for the next scale. The
 * islands stay. */
static enum srcfind_status fit_other(struct backend_search *b, const struct view *other) {
    struct sources found;
    enum srcfind_status status = sources_fit(other, b->search->options, &b->calls, &found);
    if (status == SRCFIND_OK && !sources_append_gaussians(&b->in_other, &found))
        status = error_memory(b->calls.error, "fitting sources");
    sources_clear(&found);
    return status;
}

/* Makes rows of the islands of the views, with these kinds of labels. has_next: another scale is
 * searched afterwards, and the Gaussians are subtracted from it. */
static enum srcfind_status make_and_keep(struct backend_search *b, struct views *views,
                                         unsigned labels, bool has_next, struct sources *sources) {
    const double start = clock_seconds();
    enum srcfind_status status = SRCFIND_OK;
    if (views->are_two && has_next)
        status = fit_other(b, &views->other);
    if (status == SRCFIND_OK)
        status = make_rows(b, views, labels, sources);
    if (status == SRCFIND_OK && has_next && !sources_append_gaussians(&b->in_measured, sources))
        status = error_memory(b->calls.error, "fitting sources");
    b->search->report->timings.measure += clock_seconds() - start;
    return status;
}

/* --- artefacts --- */

/* Lists the Gaussians of the image of which this one is the negative, with the other sign: *n in
 * all; to be freed. Those of scales are in the background. NULL where memory ran out. */
static struct gaussian *list_opposite(const struct sources *opposite, int64_t *n) {
    *n = opposite ? opposite->n_free : 0;
    struct gaussian *all = arrays_allocate(*n, sizeof *all);
    for (int64_t i = 0; all && i < *n; i++) {
        all[i] = opposite->gaussians[i];
        all[i].peak = -all[i].peak;
    }
    return all;
}

/* The number of rows that are of no scale, which come first. */
static int64_t count_rows(const struct sources *s) {
    int64_t n = 0;
    while (s && n < s->n && s->rows[n].scale == 0)
        n++;
    return n;
}

/* Flags the Gaussians of sources that have the flag. */
static void flag_parts(struct sources *s) {
    for (int64_t i = 0; i < s->n_parts; i++)
        s->parts[i].flags |= s->rows[s->parts[i].id - 1].flags & SRCFIND_FLAG_ARTEFACT;
}

/* Flags the fitted rows of the image that may be artefacts. */
static enum srcfind_status flag_artefacts(struct backend_search *b, const struct row_index *index) {
    const struct search *s = b->search;
    const struct view *view = &s->views->measure;
    const struct run_source pixels = view_pixels(view, &b->calls);
    struct fit_frame frame;
    enum srcfind_status status = sources_frame(view, s->options, &frame, b->calls.error);
    if (status != SRCFIND_OK || !frame.has_beam)
        return status;
    const struct tensor beam = beam_frame_moments(&frame);
    struct artefact_image image = {.pixels = &pixels,
                                   .width = view->source->width,
                                   .height = view->source->height,
                                   .fwhm = beam_frame_fwhm(&beam),
                                   .opposite = s->opposite ? s->opposite->rows : NULL,
                                   .n_opposite = count_rows(s->opposite)};
    struct gaussian *gaussians = list_opposite(s->opposite, &image.n_gaussians);
    image.gaussians = gaussians;
    status = gaussians ? artefacts_find(&image, index, s->sources->rows, s->sources->n,
                                        b->calls.threads, b->calls.error)
                       : error_memory(b->calls.error, "looking for artefacts");
    flag_parts(s->sources);
    free(gaussians);
    return status;
}

/* --- the point-spread function --- */

/* Finds the point-spread function by the rows of the image. */
static enum srcfind_status find_psf(struct backend_search *b, const struct row_index *index) {
    const struct search *s = b->search;
    const struct view *view = &s->views->measure;
    const int64_t width = view->source->width, height = view->source->height;
    struct measured_psf *psf = s->psf;
    struct fit_frame frame;
    enum srcfind_status status = sources_frame(view, s->options, &frame, b->calls.error);
    if (status != SRCFIND_OK || !frame.has_beam)
        return status;
    const struct tensor beam = beam_frame_moments(&frame);
    struct psf_point *points = arrays_allocate(PSF_MOST_POINTS, sizeof *points);
    int64_t n = 0;
    psf_clear(&psf->psf);
    if (!points || !psf_make(&psf->psf, &beam, width, height) ||
        !psf_points_list(index, s->sources->rows, s->sources->n, s->sources->free,
                         beam_frame_fwhm(&beam), b->calls.threads, points, &n))
        status = error_memory(b->calls.error, "measuring the point-spread function");
    if (status == SRCFIND_OK) {
        psf->n = psf_fit(&psf->psf, points, n, width, height);
        const struct tensor middle = psf_at(&psf->psf, (double)width / 2, (double)height / 2);
        psf->middle = psf_area(&psf->psf, &middle);
        psf->edges = psf_area_at_edges(&psf->psf);
    }
    free(points);
    return status;
}

/* Flags the rows of fits that may be artefacts, and finds the point-spread function, if it is
 * wanted. */
static enum srcfind_status judge_fits(struct backend_search *b) {
    const struct search *s = b->search;
    struct srcfind_timings *timings = &s->report->timings;
    const double start = clock_seconds();
    struct row_index index;
    enum srcfind_status status =
        row_index_make(&index, s->sources->rows, s->sources->n, b->calls.threads)
            ? flag_artefacts(b, &index)
            : error_memory(b->calls.error, "looking for artefacts");
    const double judged = clock_seconds();
    if (status == SRCFIND_OK && s->psf)
        status = find_psf(b, &index);
    timings->artefacts += judged - start;
    timings->psf += clock_seconds() - judged;
    row_index_clear(&index);
    return status;
}

/* --- scales --- */

/* Makes sources of the islands of a scale of one kind, and adds them to those of the search. */
static enum srcfind_status add_kind(struct backend_search *b, struct views *samples,
                                    enum scale_island kind, struct scale_islands *islands,
                                    bool has_next) {
    struct view *detect_view = views_detect(samples);
    struct sources *all = b->search->sources, sources = {0};
    segments_clear(&detect_view->result.segments);
    detect_view->result.segments = islands->segments;
    islands->segments = (struct segments){0};
    const unsigned labels = kind == ISLAND_IS_SOURCE ? b->search->labels : 0;
    enum srcfind_status status = make_and_keep(b, samples, labels, has_next, &sources);
    bool ok = true;
    if (status == SRCFIND_OK && kind == ISLAND_IS_SOURCE)
        ok = keep_certain(&sources) && sources_append(all, &sources);
    else if (status == SRCFIND_OK && kind == ISLAND_JOINS)
        ok = join_sources(all, &sources, islands->source,
                          scale_islands_reach(samples->measure.grid));
    if (!ok)
        status = error_memory(b->calls.error, "adding the sources of a scale");
    sources_clear(&sources);
    return status;
}

/* Divides the islands of a scale by kind. */
static enum srcfind_status divide_islands(struct backend_search *b, struct views *samples,
                                          double threshold,
                                          struct scale_islands kinds[SCALE_ISLANDS]) {
    const struct view *view = views_detect(samples);
    const struct sources *found = b->search->sources;
    struct fit_frame frame;
    const enum srcfind_status status =
        sources_frame(view, b->search->options, &frame, b->calls.error);
    if (status != SRCFIND_OK)
        return status;
    return scale_islands_divide(view, threshold, &frame, found->rows, found->n, kinds)
               ? SRCFIND_OK
               : error_memory(b->calls.error, "dividing the islands of a scale");
}

static void set_threshold(struct views *views, double threshold) {
    views->measure.detection.threshold = views->other.detection.threshold = threshold;
}

/* Searches the samples of a scale, and adds what is found to the sources of the search. */
static enum srcfind_status search_samples(struct backend_search *b, struct views *samples,
                                          bool has_next) {
    struct scale_islands kinds[SCALE_ISLANDS] = {0};
    const double threshold = samples->measure.detection.threshold;
    const double beside = scale_islands_threshold(&samples->measure.detection);
    set_threshold(samples, beside);
    enum srcfind_status status = detect_with_correlation(b, samples);
    if (status == SRCFIND_OK)
        status = divide_islands(b, samples, threshold, kinds);
    for (int kind = 0; status == SRCFIND_OK && kind < SCALE_ISLANDS; kind++) {
        const bool is_needed = kind != ISLAND_IS_DOUBT || has_next;
        set_threshold(samples, kind == ISLAND_JOINS ? beside : threshold);
        if (is_needed && kinds[kind].segments.n > 0)
            status = add_kind(b, samples, kind, &kinds[kind], has_next);
    }
    scale_islands_clear(kinds);
    views_clear(samples);
    return status;
}

/* Searches the smoothed residual of the image. */
static enum srcfind_status search_residual(struct backend_search *b, const struct scale *scale,
                                           bool has_next) {
    struct views *image = b->search->views;
    struct samples samples = {.spool.descriptor = -1};
    const double start = clock_seconds();
    int64_t n = 0;
    enum srcfind_status status =
        scale_smooth(scale, &image->measure, &b->calls, &b->in_measured, &samples, &n);
    b->search->report->timings.smooth += clock_seconds() - start;
    struct views views = {.measure = scale_view(scale, &image->measure, &samples)};
    if (status == SRCFIND_OK && n > 0)
        status = search_samples(b, &views, has_next);
    samples_clear(&samples);
    return status;
}

/* Searches the samples of both images. A value that overflows in one of them is blank in both. */
static enum srcfind_status search_both(struct backend_search *b, const struct scale *scale,
                                       struct samples *measured, struct samples *detected,
                                       bool has_next) {
    struct views *image = b->search->views;
    struct views views = {.measure = scale_view(scale, &image->measure, measured),
                          .other = scale_view(scale, &image->other, detected),
                          .are_two = true};
    struct grid grid;
    enum srcfind_status status =
        scale_grid_beside(scale, &image->other, b->search->options, &grid, b->calls.error);
    views.other.grid = &grid;
    views.other.detection = scale->detection;
    if (status == SRCFIND_OK)
        status = samples_share_blanks(measured, detected, &views.blanks, &b->calls);
    if (status == SRCFIND_OK)
        status = search_samples(b, &views, has_next);
    blanks_destroy(views.blanks);
    return status;
}

/* Searches the smoothed residuals of both images, each less its own Gaussians. */
static enum srcfind_status search_two_residuals(struct backend_search *b, const struct scale *scale,
                                                bool has_next) {
    struct views *image = b->search->views;
    struct samples measured = {.spool.descriptor = -1}, detected = {.spool.descriptor = -1};
    const double start = clock_seconds();
    int64_t n_measured = 0, n_detected = 0;
    enum srcfind_status status = scale_smooth_kept(scale, &image->measure, &b->calls,
                                                   &b->in_measured, &measured, &n_measured);
    if (status == SRCFIND_OK)
        status = scale_smooth_kept(scale, &image->other, &b->calls, &b->in_other, &detected,
                                   &n_detected);
    b->search->report->timings.smooth += clock_seconds() - start;
    if (status == SRCFIND_OK && n_measured > 0 && n_detected > 0)
        status = search_both(b, scale, &measured, &detected, has_next);
    samples_clear(&measured);
    samples_clear(&detected);
    return status;
}

/* Searches the image less all Gaussians so far, smoothed with a kernel whose FWHM is `fwhm` beams.
 */
static enum srcfind_status search_scale(struct backend_search *b, double fwhm, bool has_next) {
    const struct search *s = b->search;
    struct scale scale;
    enum srcfind_status status = scale_make(&scale, fwhm, s->options, s->views, b->calls.error);
    if (status == SRCFIND_OK && scale.is_left_out)
        s->report->widest_left_out = fwhm;
    else if (status == SRCFIND_OK)
        status = s->views->are_two ? search_two_residuals(b, &scale, has_next)
                                   : search_residual(b, &scale, has_next);
    scale_clear(&scale);
    return status;
}

/* Whether all pixels have one value. Smoothed samples then differ in their last digits only. */
static bool is_constant(const struct srcfind_background *b) {
    return b->empty && b->rms == 0 && b->n_kept == b->n_pixels - b->n_blank;
}

/* Searches the views, and then their scales, if residuals may have emission. */
static enum srcfind_status search_all(struct backend_search *b) {
    const struct search *s = b->search;
    struct views *views = s->views;
    const int n = b->positions ? 0 : s->options->scales.n;
    enum srcfind_status status = detect_with_correlation(b, views);
    if (status == SRCFIND_OK)
        status = make_and_keep(b, views, s->labels, n > 0, s->sources);
    if (status == SRCFIND_OK && options_fit(s->options) && !b->positions)
        status = judge_fits(b);
    const char *method = s->report->timings.clip_method;
    if (is_constant(&views->measure.result.background) ||
        is_constant(&views_detect(views)->result.background))
        return status;
    for (int i = 0; status == SRCFIND_OK && i < n; i++)
        status = search_scale(b, s->options->scales.fwhm[i], i + 1 < n);
    s->report->timings.clip_method = method;
    return status;
}

/* --- where it is searched --- */

/* Searches on a GPU. *done is false if all GPUs are busy, and the search does not wait for one. */
static enum srcfind_status search_on_gpu(struct backend_search *b, enum gpu_wait wait, bool *done) {
    const struct search *s = b->search;
    struct srcfind *f = s->finder;
    const double start = clock_seconds();
    enum srcfind_status status = gpu_take(f->gpu, wait, &b->calls.context, &f->error);
    s->report->timings.start += clock_seconds() - start;
    const struct gpu_context *c = b->calls.context;
    *done = status != SRCFIND_OK || c;
    if (!c)
        return status;
    record_backend(&s->report->run, "cuda", c->backend->name(c->cuda),
                   finder_wants_gpu(s->options) ? "as asked" : "many pixels");
    status = search_all(b);
    backend_give(&b->calls, f->gpu);
    return status;
}

/* Searches on a GPU or on the CPU. If the user did not ask for a GPU, the CPU also takes over where
 * the GPU is busy or fails. */
static enum srcfind_status search_somewhere(struct backend_search *b) {
    const struct search *s = b->search;
    struct srcfind *f = s->finder;
    enum gpu_wait wait;
    const bool may_use_cpu = !finder_wants_gpu(s->options) && !s->views->measure.on_device;
    const char *reason = reason_for_cpu(b, &wait);
    if (reason && !may_use_cpu)
        return error_set(&f->error, SRCFIND_ERROR_DEVICE,
                         "%s: on the CPU only: leave --gpu and --device out", reason);
    if (!reason) {
        bool done;
        const enum srcfind_status status = search_on_gpu(b, wait, &done);
        if (done && (status != SRCFIND_ERROR_DEVICE || !may_use_cpu))
            return status;
        views_clear(s->views);
        sources_clear(s->sources);
        sources_clear(&b->in_measured);
        sources_clear(&b->in_other);
        reason = done ? f->error.text : "the GPU is busy";
    }
    record_backend(&s->report->run, "cpu", "", reason);
    return search_all(b);
}

/* Adds the share of fluxes that the user gives to their errors: once all that joins a source has
 * joined it. */
static void add_flux_errors(const struct options *options, struct srcfind_source *rows, int64_t n) {
    const double share = options->flux_error / 100;
    for (int64_t i = 0; share > 0 && i < n; i++) {
        struct srcfind_source *row = &rows[i];
        row->e_isl_total_flux = hypot(row->e_isl_total_flux, share * row->isl_total_flux);
        row->e_total_flux = hypot(row->e_total_flux, share * row->total_flux);
        row->e_peak_flux = hypot(row->e_peak_flux, share * row->peak_flux);
    }
}

/* Searches, and tells the pool of GPUs how long the search took. */
static enum srcfind_status run(struct backend_search *b) {
    const struct search *s = b->search;
    struct srcfind *f = s->finder;
    const double start = clock_seconds();
    b->calls = (struct backend_calls){NULL, f->threads, &f->error};
    const enum srcfind_status status = search_somewhere(b);
    sources_clear(&b->in_measured);
    sources_clear(&b->in_other);
    if (status == SRCFIND_OK) {
        add_flux_errors(s->options, s->sources->rows, s->sources->n);
        add_flux_errors(s->options, s->sources->parts, s->sources->n_parts);
    }
    if (status == SRCFIND_OK && f->gpu && strcmp(s->report->run.backend, "cpu") == 0) {
        const struct search_work work = work_of(b);
        gpu_add_search(f->gpu, &work, clock_seconds() - start, s->options->threads);
    }
    return status;
}

enum srcfind_status search_run(const struct search *search) {
    struct backend_search b = {.search = search};
    search->views->measure.detection.keep_runs =
        views_need_pixels(search->views, search->options) || search->labels;
    return run(&b);
}

enum srcfind_status search_at(const struct search *search, const struct positions *positions) {
    struct backend_search b = {.search = search, .positions = positions};
    return run(&b);
}
