#include "api/search.h"

#include <string.h>

#include "api/completeness.h"
#include "api/elsewhere.h"
#include "api/negative.h"
#include "api/noise.h"
#include "api/notes.h"
#include "api/planes.h"
#include "api/quality.h"
#include "common/clock.h"
#include "gpu/module.h"
#include "input/blanked.h"
#include "input/header_lines.h"
#include "input/user_maps.h"

bool finder_wants_gpu(const struct options *o) {
    return o->device >= 0 || o->device == DEVICE_ALL;
}

struct detection finder_detection(const struct options *o, const struct image *image,
                                  const struct srcfind_image *metadata) {
    struct detection detection = {.kappa = o->noise.kappa,
                                  .threshold = o->threshold,
                                  .island = o->island,
                                  .background = o->noise.background,
                                  .rms = o->noise.rms,
                                  .connectivity = o->connectivity == CONNECTIVITY_8 ? 8 : 4,
                                  .min_pixels = o->min_pixels};
    if (*o->at) /* only the noise is wanted */
        detection.threshold = detection.island = NO_THRESHOLD;
    detection.maps.background = user_map_source(image->user_maps, USER_BACKGROUND);
    detection.maps.rms = user_map_source(image->user_maps, USER_RMS);
    detection.keep_runs = sources_need_pixels(o, &detection.maps);
    noise_choose_box(o, metadata, &detection);
    return detection;
}

/* --- the choice of a backend --- */

/* Records which backend is used, and why. */
static void record_backend(struct srcfind_run *run, const char *backend, const char *device,
                           const char *reason) {
    run->backend = backend;
    snprintf(run->device, sizeof run->device, "%s", device);
    snprintf(run->reason, sizeof run->reason, "%.*s", (int)sizeof run->reason - 1, reason);
}

/* A search of an image, or of the negated image. */
struct search {
    struct srcfind *finder;
    const struct search_input *input;
    const struct detection *detection;
    struct srcfind_catalogue *catalogue;
    struct backend_calls calls; /* of the backend that searches */
    struct detection_result *result;
    struct sources *sources;
    const struct grid *grid;     /* what the pixels are */
    struct elsewhere *elsewhere; /* NULL: sources are detected where they are measured */
    unsigned labels;             /* to be kept, as those of a finder */
};

static struct search_work work_of(const struct search *s) {
    const struct options *o = &s->finder->options;
    return (struct search_work){.n_pixels = (double)s->input->source->width *
                                            (double)s->input->source->height,
                                .is_local = s->detection->box > 0,
                                .has_two_images = s->elsewhere,
                                .divides = sources_need_pixels(o, &s->detection->maps),
                                .fits = options_fit(o)};
}

/* The reason to use the CPU without trying a GPU; NULL if a GPU is to be tried, and *wait is how.
 */
static const char *reason_for_cpu(const struct search *s, enum gpu_wait *wait) {
    struct srcfind *f = s->finder;
    if (!f->gpu)
        return f->options.device == DEVICE_CPU ? "as asked" : "built without CUDA";
    if (noise_sources_exist(&s->detection->maps))
        return "maps of the noise";
    *wait = s->input->on_device ? GPU_WAIT_FIRST : GPU_WAIT;
    if (s->input->on_device || finder_wants_gpu(&f->options))
        return NULL;
    if (!gpu_driver_exists())
        return "no other device";
    const struct search_work work = work_of(s);
    const enum backend_choice choice = gpu_choose(f->gpu, &work, f->options.threads);
    *wait = choice == CHOOSE_GPU_IF_FREE ? GPU_IF_FREE : GPU_WAIT;
    return choice == CHOOSE_CPU ? "too few pixels for a GPU" : NULL;
}

/* --- from pixels to islands --- */

/* Adds the times of a search, whose other times the catalogue has already. */
static void add_timings(struct srcfind_timings *all, const struct srcfind_timings *search) {
    all->transfer += search->transfer;
    all->scan += search->scan;
    all->clip += search->clip;
    all->islands += search->islands;
    all->clip_method = search->clip_method;
}

static void give_context(struct search *s) {
    if (s->calls.context)
        gpu_give(s->finder->gpu, s->calls.context);
    s->calls.context = NULL;
}

static enum srcfind_status detect(struct search *s) {
    struct elsewhere *e = s->elsewhere;
    const enum srcfind_status status =
        e ? elsewhere_detect(e, &s->calls, s->input->source, s->detection, s->result)
          : backend_detect(&s->calls, s->input->source, s->input->on_device, s->detection,
                           s->result);
    if (e)
        add_timings(&s->catalogue->timings, &e->result.timings);
    add_timings(&s->catalogue->timings, &s->result->timings);
    return status;
}

/* --- from islands to sources --- */

/* Makes the sources of a detection. Where no pixels are needed again, the device is given back
 * before. */
static enum srcfind_status make_sources(struct search *s) {
    const struct srcfind *f = s->finder;
    const struct device_pixels *on_device = s->input->on_device;
    const struct pixel_source shape = {.width = on_device ? on_device->width : 0,
                                       .height = on_device ? on_device->height : 0};
    const struct elsewhere *e = s->elsewhere;
    const struct run_source detected = e ? elsewhere_pixels(e, &s->calls) : (struct run_source){0};
    const struct sources_from from = {
        .options = &f->options,
        .at = f->at,
        .pixels = {.source = on_device ? &shape : s->input->source,
                   .noise = &s->result->noise,
                   .user = s->detection->maps,
                   .gather = s->result->is_on_device ? backend_gather : NULL,
                   .context = &s->calls},
        .detected = e ? &detected : NULL,
        .image = s->input->image,
        .metadata = &s->catalogue->image,
        .detection = s->detection,
        .grid = s->grid,
        .fitter = {backend_fit, &s->calls},
        .labels = s->labels};
    if (!sources_need_pixels(&f->options, &s->detection->maps) && !*f->options.at)
        give_context(s);
    return sources_make(&from, s->result, f->threads, s->sources, &s->finder->error);
}

/* Detects islands, and makes their sources. */
static enum srcfind_status search_pixels(struct search *s) {
    struct elsewhere *e = s->elsewhere;
    enum srcfind_status status = detect(s);
    const double start = clock_seconds();
    if (status == SRCFIND_OK && e && e->has_next)
        status = elsewhere_fit(e, &s->calls, &s->finder->options, &s->result->segments);
    if (status == SRCFIND_OK)
        status = make_sources(s);
    s->catalogue->timings.measure += clock_seconds() - start;
    return status;
}

/* --- scales --- */

/* Searches the samples of a scale, and adds what is found to the sources of the search. */
static enum srcfind_status search_samples(struct search *s, const struct scale *scale,
                                          const struct search_input *input,
                                          struct elsewhere *elsewhere) {
    struct detection_result result = {0};
    struct sources sources = {0};
    struct search of_scale = *s;
    of_scale.input = input;
    of_scale.detection = &scale->detection;
    of_scale.result = &result;
    of_scale.sources = &sources;
    of_scale.grid = &scale->grid;
    of_scale.elsewhere = elsewhere;
    enum srcfind_status status = search_pixels(&of_scale);
    if (status == SRCFIND_OK && !sources_append(s->sources, &sources))
        status = error_memory(&s->finder->error, "adding the sources of a scale");
    sources_clear(&sources);
    detection_result_clear(&result);
    return status;
}

/* Searches the smoothed residual of the image. */
static enum srcfind_status search_residual(struct search *s, const struct scale *scale) {
    struct srcfind *f = s->finder;
    struct samples samples = {.spool.descriptor = -1};
    const struct device_pixels *on_device = &samples.on_device;
    const double start = clock_seconds();
    int64_t n = 0;
    enum srcfind_status status =
        scale_smooth(scale, s->input->source, s->result->is_on_device ? s->calls.context : NULL,
                     s->sources, f->threads, &samples, &n, &f->error);
    const struct search_input input = {.source = on_device->pixels ? NULL : &samples.source,
                                       .on_device = on_device->pixels ? on_device : NULL,
                                       .image = s->input->image};
    s->catalogue->timings.smooth += clock_seconds() - start;
    if (status == SRCFIND_OK && n > 0)
        status = search_samples(s, scale, &input, NULL);
    samples_clear(&samples);
    return status;
}

/* Detects in the samples elsewhere, measures in those of the image, and adds to what both have. A
 * value that overflows in one of them is blank in both. */
static enum srcfind_status search_both(struct search *s, const struct scale *scale,
                                       const struct pixel_source *measured,
                                       const struct pixel_source *detected) {
    struct blanked of_image, of_other;
    struct grid grid;
    struct elsewhere *all = s->elsewhere, e = *all;
    const struct pixel_source in_image = blanked_source(&of_image, measured, detected);
    const struct pixel_source in_other = blanked_source(&of_other, detected, measured);
    const struct search_input input = {.source = &in_image, .image = s->input->image};
    struct error *error = &s->finder->error;
    enum srcfind_status status =
        elsewhere_grid(all, &s->finder->options, &scale->grid, &grid, error);
    e.source = &in_other;
    e.detection = &scale->detection;
    e.grid = &grid;
    e.result = (struct detection_result){0};
    e.model = (struct sources){0};
    if (status == SRCFIND_OK)
        status = search_samples(s, scale, &input, &e);
    if (status == SRCFIND_OK && !sources_append(&all->model, &e.model))
        status = error_memory(error, "adding the sources of a scale");
    elsewhere_clear(&e);
    return status;
}

/* Searches the smoothed residuals of the image and of the other one, each less its own model. */
static enum srcfind_status search_two_residuals(struct search *s, const struct scale *scale) {
    const struct elsewhere *e = s->elsewhere;
    struct samples measured = {.spool.descriptor = -1}, detected = {.spool.descriptor = -1};
    const double start = clock_seconds();
    int64_t n_measured = 0, n_detected = 0;
    enum srcfind_status status =
        scale_smooth_any(scale, s->input->source, &s->calls, s->sources, &measured, &n_measured);
    if (status == SRCFIND_OK)
        status = scale_smooth_any(scale, e->source, &s->calls, &e->model, &detected, &n_detected);
    s->catalogue->timings.smooth += clock_seconds() - start;
    if (status == SRCFIND_OK && n_measured > 0 && n_detected > 0)
        status = search_both(s, scale, &measured.source, &detected.source);
    samples_clear(&measured);
    samples_clear(&detected);
    return status;
}

/* Searches the residual of what was found so far, smoothed with a kernel of so many beams. */
static enum srcfind_status search_scale(struct search *s, double fwhm) {
    struct srcfind *f = s->finder;
    struct scale scale;
    enum srcfind_status status = scale_make(&scale, fwhm, &f->options, s->input->image,
                                            &s->catalogue->image, s->detection, &f->error);
    if (status == SRCFIND_OK && scale.is_left_out)
        s->catalogue->quality.widest_left_out = fwhm;
    else if (status == SRCFIND_OK)
        status = s->elsewhere ? search_two_residuals(s, &scale) : search_residual(s, &scale);
    scale_clear(&scale);
    return status;
}

/* Whether all pixels have one value. What is smoothed then differs in its last digits alone. */
static bool is_constant(const struct srcfind_background *b) {
    return b->empty && b->rms == 0 && b->n_kept == b->n_pixels - b->n_blank;
}

/* Whether residuals may have emission. */
static bool has_scales(const struct search *s) {
    return !is_constant(&s->result->background) &&
           !(s->elsewhere && is_constant(&s->elsewhere->result.background));
}

/* Searches the image, and then its scales. */
static enum srcfind_status run_search(struct search *s) {
    const struct scales_option *scales = &s->finder->options.scales;
    struct elsewhere *e = s->elsewhere;
    if (e)
        e->has_next = scales->n > 0;
    enum srcfind_status status = search_pixels(s);
    const char *method = s->catalogue->timings.clip_method;
    const int n = has_scales(s) ? scales->n : 0;
    for (int i = 0; status == SRCFIND_OK && i < n; i++) {
        if (e)
            e->has_next = i + 1 < n;
        status = search_scale(s, scales->fwhm[i]);
    }
    s->catalogue->timings.clip_method = method;
    return status;
}

/* Searches on a GPU. *done is false if no GPU is free, and is not to be waited for. */
static enum srcfind_status search_on_gpu(struct search *s, enum gpu_wait wait, bool *done) {
    struct srcfind *f = s->finder;
    const double start = clock_seconds();
    enum srcfind_status status = gpu_take(f->gpu, wait, &s->calls.context, &f->error);
    s->catalogue->timings.start += clock_seconds() - start;
    const struct gpu_context *c = s->calls.context;
    *done = status != SRCFIND_OK || c;
    if (!c)
        return status;
    record_backend(&s->catalogue->run, "cuda", c->backend->name(c->cuda),
                   finder_wants_gpu(&f->options) ? "as asked" : "many pixels");
    status = run_search(s);
    give_context(s);
    return status;
}

static void clear_found(struct search *s) {
    detection_result_clear(s->result);
    sources_clear(s->sources);
    if (s->elsewhere)
        elsewhere_clear(s->elsewhere);
}

/* Detects islands and makes the sources, on a GPU or on the CPU. If the user did not ask for a GPU,
 * the CPU also takes over where the GPU is busy or fails. */
static enum srcfind_status search_somewhere(struct search *s) {
    struct srcfind *f = s->finder;
    enum gpu_wait wait;
    const bool may_use_cpu = !finder_wants_gpu(&f->options) && !s->input->on_device;
    const char *reason = reason_for_cpu(s, &wait);
    if (reason && !may_use_cpu)
        return error_set(&f->error, SRCFIND_ERROR_DEVICE,
                         "%s: on the CPU only: leave --gpu and --device out", reason);
    if (!reason) {
        bool done;
        const enum srcfind_status status = search_on_gpu(s, wait, &done);
        if (done && (status != SRCFIND_ERROR_DEVICE || !may_use_cpu))
            return status;
        clear_found(s);
        reason = done ? srcfind_message(f) : "the GPU is busy";
    }
    record_backend(&s->catalogue->run, "cpu", "", reason);
    return run_search(s);
}

/* The same, and tells the pool how long it took. */
static enum srcfind_status detect_and_measure(struct search *s) {
    struct srcfind *f = s->finder;
    const double start = clock_seconds();
    const enum srcfind_status status = search_somewhere(s);
    if (status == SRCFIND_OK && f->gpu && !s->input->on_device) {
        const struct search_work work = work_of(s);
        gpu_add_search(f->gpu, &work, strcmp(s->catalogue->run.backend, "cuda") == 0,
                       clock_seconds() - start, f->options.threads);
    }
    return status;
}

/* --- searches --- */

/* A search whose noise goes to `result`, and whose rows go to `sources`. */
static struct search search_of(struct srcfind *finder, const struct search_input *input,
                               const struct detection *detection, struct elsewhere *elsewhere,
                               struct srcfind_catalogue *catalogue, struct detection_result *result,
                               struct sources *sources) {
    return (struct search){.finder = finder,
                           .input = input,
                           .detection = detection,
                           .catalogue = catalogue,
                           .calls = {NULL, finder->threads, &finder->error},
                           .result = result,
                           .sources = sources,
                           .grid = &GRID_OF_IMAGE,
                           .elsewhere = elsewhere,
                           .labels = finder->labels};
}

/* Finds the sources of other pixels than those of the image, whose noise is not kept. */
static enum srcfind_status find_again(struct srcfind *finder, const struct search_input *input,
                                      const struct detection *detection,
                                      struct elsewhere *elsewhere, unsigned labels,
                                      struct sources *sources,
                                      struct srcfind_catalogue *catalogue) {
    struct detection_result result = {0};
    struct search search =
        search_of(finder, input, detection, elsewhere, catalogue, &result, sources);
    search.labels = labels;
    const enum srcfind_status status = detect_and_measure(&search);
    if (elsewhere)
        elsewhere_clear(elsewhere);
    detection_result_clear(&result);
    return status;
}

/* Finds the sources of the negated image, and adds them to those that were found in the image. */
static enum srcfind_status find_negative(struct srcfind *finder, const struct search_input *input,
                                         const struct detection *detection,
                                         const struct elsewhere *elsewhere, struct sources *found,
                                         struct srcfind_catalogue *catalogue) {
    struct negated_image negative, negative_elsewhere;
    struct device_pixels on_device;
    struct search_input negated_input = {.image = input->image};
    negative_make(&negative, input->source, detection);
    if (input->on_device) {
        on_device = *input->on_device;
        on_device.change = pixel_change_make(finder->options.image.blank, true, on_device.swapped);
        negated_input.on_device = &on_device;
    } else {
        negated_input.source = &negative.source;
    }
    struct elsewhere negated = {0};
    if (elsewhere) {
        negated = *elsewhere;
        negative_make(&negative_elsewhere, elsewhere->source, elsewhere->detection);
        negated.source = &negative_elsewhere.source;
        negated.detection = &negative_elsewhere.detection;
    }
    struct sources sources = {0};
    enum srcfind_status status =
        find_again(finder, &negated_input, &negative.detection, elsewhere ? &negated : NULL,
                   finder->labels, &sources, catalogue);
    if (status == SRCFIND_OK && !negative_add(found, &sources))
        status = error_memory(&finder->error, "adding negative sources");
    catalogue->n_negative = sources.n;
    sources_clear(&sources);
    return status;
}

/* What is the same in all searches for sources that were added to the image. */
struct searches {
    struct srcfind *finder;
    const struct image *image;
    struct detection detection;
    const struct elsewhere *elsewhere;
    struct srcfind_catalogue catalogue; /* a copy: that of the image has the times of its search */
};

static enum srcfind_status find_added(void *context, const struct pixel_source *image,
                                      const struct pixel_source *elsewhere, struct sources *found) {
    struct searches *s = context;
    const struct search_input input = {.source = image, .image = s->image};
    struct elsewhere other = {0};
    if (s->elsewhere)
        other = *s->elsewhere;
    other.source = elsewhere;
    return find_again(s->finder, &input, &s->detection, elsewhere ? &other : NULL, 0, found,
                      &s->catalogue);
}

/* Adds sources to the image, and finds out which of them the search finds. */
static enum srcfind_status
measure_completeness(struct srcfind *finder, const struct search_input *input,
                     const struct detection *detection, const struct elsewhere *elsewhere,
                     const struct sources *found, struct srcfind_catalogue *catalogue) {
    const double start = clock_seconds();
    struct searches searches = {finder, input->image, *detection, elsewhere, *catalogue};
    searches.detection.keep_runs = sources_need_pixels(&finder->options, &detection->maps);
    const struct run_source in_other = {.source = elsewhere ? elsewhere->source : NULL,
                                        .noise = &catalogue->detection_noise};
    const struct completeness_from from = {
        .options = &finder->options,
        .image = input->image,
        .metadata = &catalogue->image,
        .background = &catalogue->background,
        .pixels = {.source = input->source, .noise = &catalogue->noise, .user = detection->maps},
        .detected = elsewhere ? &in_other : NULL,
        .elsewhere = elsewhere,
        .before = found,
        .again = {find_added, &searches},
        .threads = finder->threads};
    const enum srcfind_status status =
        completeness_measure(&from, &catalogue->injections, &finder->error);
    const struct srcfind_background *b = &catalogue->background;
    const double pixel = catalogue->image.pixel_area;
    catalogue->injected_area = (double)(b->n_pixels - b->n_blank) * (pixel > 0 ? pixel : 1);
    catalogue->timings.completeness = clock_seconds() - start;
    return status;
}

/* Whether all pixels of the image are blank, with a mask or map. */
static bool is_blank_by_user_maps(const struct search_input *input,
                                  const struct srcfind_background *b) {
    return input->image->user_maps && b->n_pixels > 0 && b->n_blank == b->n_pixels;
}

/* Finds the sources of the image, and describes its noise. */
static enum srcfind_status find_positive(struct srcfind *finder, const struct search_input *input,
                                         const struct detection *detection,
                                         struct elsewhere *elsewhere, struct sources *found,
                                         struct srcfind_catalogue *catalogue) {
    struct detection_result result = {0};
    struct search search =
        search_of(finder, input, detection, elsewhere, catalogue, &result, found);
    enum srcfind_status status = detect_and_measure(&search);
    if (status == SRCFIND_OK && !noise_describe(detection, &result.noise, &result.background))
        status = error_memory(&finder->error, "measuring local noise");
    if (status == SRCFIND_ERROR_INPUT && is_blank_by_user_maps(input, &result.background))
        status = user_maps_explain_blank(input->image->user_maps, result.background.n_pixels,
                                         &finder->error);
    segments_clear(&result.segments);
    catalogue->noise = result.noise;
    catalogue->background = result.background;
    return status;
}

/* Gives the catalogue what was found. */
static void give_sources(const struct sources *found, unsigned labels,
                         struct srcfind_catalogue *catalogue) {
    catalogue->sources = found->rows;
    catalogue->n_sources = found->n;
    catalogue->left_out = found->left_out;
    catalogue->gaussians = found->gaussians;
    catalogue->n_gaussians = found->n_gaussians;
    catalogue->parts = found->parts;
    catalogue->n_parts = found->n_parts;
    memcpy(catalogue->labels, found->labels, sizeof found->labels);
    catalogue->has_labels = labels;
}

/* Finds where the corners of the image are on the sky, around it from the first pixel on. */
static enum srcfind_status find_footprint(const struct image *image,
                                          struct srcfind_catalogue *catalogue,
                                          struct error *error) {
    const double right = (double)catalogue->image.width - 0.5;
    const double top = (double)catalogue->image.height - 0.5;
    const double x[] = {-0.5, right, right, -0.5}, y[] = {-0.5, -0.5, top, top};
    double lon[4] = {NAN, NAN, NAN, NAN}, lat[4] = {NAN, NAN, NAN, NAN};
    const enum srcfind_status status =
        image->wcs ? wcs_positions(image->wcs, 4, x, y, lon, lat, error) : SRCFIND_OK;
    for (int i = 0; i < 4; i++) {
        catalogue->footprint[2 * i] = lon[i];
        catalogue->footprint[2 * i + 1] = lat[i];
    }
    return status;
}

enum srcfind_status search_image(struct srcfind *finder, const struct search_input *input,
                                 struct srcfind_catalogue *catalogue) {
    struct detection detection =
        finder_detection(&finder->options, input->image, &catalogue->image);
    const struct detection in_other =
        elsewhere_detection(&finder->options, input->image, &catalogue->image);
    struct elsewhere other = elsewhere_make(input->image, &catalogue->image, &in_other);
    struct elsewhere *elsewhere = other.source ? &other : NULL;
    struct sampled sample = {0};
    struct sources found = {0};
    struct pixel_source source = {0};
    struct search_input sampled = *input;
    enum srcfind_status status = SRCFIND_OK;
    detection.keep_runs = detection.keep_runs || finder->labels;
    if (!options_copy(&catalogue->options, &finder->options))
        status = error_memory(&finder->error, "keeping the options");
    catalogue->run.threads = finder->options.threads;
    catalogue_name_columns(catalogue);
    catalogue->header = header_lines(&input->image->hdu.header, &catalogue->image);
    if (status == SRCFIND_OK && !catalogue->header)
        status = error_memory(&finder->error, "keeping the header");
    if (status == SRCFIND_OK)
        status = find_footprint(input->image, catalogue, &finder->error);
    if (status == SRCFIND_OK && input->source && !sampled_source(&sample, input->source, &source))
        status = error_memory(&finder->error, "keeping a sample");
    sampled.source = input->source ? &source : NULL;
    if (status == SRCFIND_OK)
        status = find_positive(finder, &sampled, &detection, elsewhere, &found, catalogue);
    catalogue->detection_noise = other.result.noise;
    other.result.noise = (struct noise_map){0};
    elsewhere_clear(&other);
    if (status == SRCFIND_OK && finder->options.completeness > 0)
        status = measure_completeness(finder, input, &detection, elsewhere, &found, catalogue);
    if (status == SRCFIND_OK && finder->options.negative)
        status = find_negative(finder, input, &detection, elsewhere, &found, catalogue);
    give_sources(&found, status == SRCFIND_OK ? finder->labels : 0, catalogue);
    if (status == SRCFIND_OK)
        status = planes_measure(finder, input->image, catalogue);
    if (status == SRCFIND_OK && !quality_find(&sample, catalogue))
        status = error_memory(&finder->error, "comparing the noise from place to place");
    if (status == SRCFIND_OK && !notes_make(catalogue, input->image->user_maps))
        status = error_memory(&finder->error, "writing notes");
    sampled_clear(&sample);
    return status;
}
