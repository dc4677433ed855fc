#include "api/search.h"

#include <string.h>

#include "api/device_copy.h"
#include "api/negative.h"
#include "api/noise.h"
#include "api/quality.h"
#include "api/sources.h"
#include "common/clock.h"
#include "cpu/fit.h"
#include "gpu/module.h"
#include "input/given.h"

bool finder_wants_gpu(const struct options *o) {
    return o->device >= 0 || o->device == DEVICE_ALL;
}

/* So many rms that no pixel is above them. */
static const double NO_THRESHOLD = 1e30;

struct detection finder_detection(const struct options *o, const struct image *image,
                                  const struct srcfind_image *metadata) {
    struct detection detection = {.kappa = o->kappa,
                                  .threshold = o->threshold,
                                  .island = o->island,
                                  .background = o->background,
                                  .rms = o->rms,
                                  .connectivity = o->connectivity == CONNECTIVITY_8 ? 8 : 4,
                                  .min_pixels = o->min_pixels};
    if (*o->at) /* only the noise is wanted */
        detection.threshold = detection.island = NO_THRESHOLD;
    detection.maps.background = given_source(image->given, GIVEN_BACKGROUND);
    detection.maps.rms = given_source(image->given, GIVEN_RMS);
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

/* Detects on a GPU. *done is false if no GPU is free and the user did not ask for one. */
static enum srcfind_status detect_on_gpu(struct srcfind *finder, const struct search_input *input,
                                         const struct detection *detection,
                                         struct srcfind_catalogue *catalogue,
                                         struct detection_result *result, bool *done) {
    const bool is_requested = finder_wants_gpu(&finder->options);
    const enum gpu_wait wait = input->on_device ? GPU_WAIT_FIRST
                               : is_requested   ? GPU_WAIT
                                                : GPU_IF_FREE;
    const double start = clock_seconds();
    struct gpu_context *context;
    enum srcfind_status status = gpu_take(finder->gpu, wait, &context, &finder->error);
    catalogue->timings.start += clock_seconds() - start;
    *done = status != SRCFIND_OK || context;
    if (!context)
        return status;
    record_backend(&catalogue->run, "cuda", gpu_name(finder->gpu, context),
                   is_requested ? "as asked" : "many pixels");
    status = input->on_device ? gpu_detect_pixels(finder->gpu, context, input->on_device, detection,
                                                  finder->threads, result, &finder->error)
                              : gpu_detect(finder->gpu, context, input->source, detection,
                                           finder->threads, result, &finder->error);
    gpu_give(finder->gpu, context);
    return status;
}

/* The reason to use the CPU without trying a GPU; NULL if a GPU is to be tried. */
static const char *reason_for_cpu(const struct srcfind *finder, const struct search_input *input,
                                  const struct detection *detection) {
    if (!finder->gpu)
        return finder->options.device == DEVICE_CPU ? "as asked" : "built without CUDA";
    if (noise_sources_exist(&detection->maps))
        return "maps of the noise";
    if (input->on_device || finder_wants_gpu(&finder->options))
        return NULL;
    const double n_pixels = (double)input->source->width * (double)input->source->height;
    if (gpu_is_worth_it(finder->gpu, n_pixels))
        return NULL;
    return gpu_driver_exists() ? "too few pixels for a GPU" : "no other device";
}

/* Detects on a GPU or on the CPU. If the user did not ask for a GPU, the CPU also takes over where
 * the GPU is busy or fails. */
static enum srcfind_status detect(struct srcfind *finder, const struct search_input *input,
                                  const struct detection *detection,
                                  struct srcfind_catalogue *catalogue,
                                  struct detection_result *result) {
    const char *reason = reason_for_cpu(finder, input, detection);
    if (reason && (input->on_device || finder_wants_gpu(&finder->options)))
        return error_set(&finder->error, SRCFIND_ERROR_DEVICE,
                         "%s: on the CPU only: leave --gpu and --device out", reason);
    if (!reason) {
        bool done;
        const enum srcfind_status status =
            detect_on_gpu(finder, input, detection, catalogue, result, &done);
        const bool may_use_cpu = !finder_wants_gpu(&finder->options) && !input->on_device;
        if (done && (status != SRCFIND_ERROR_DEVICE || !may_use_cpu))
            return status;
        reason = done ? srcfind_message(finder) : "the GPU is busy";
    }
    record_backend(&catalogue->run, "cpu", "", reason);
    return cpu_detect(input->source, detection, finder->threads, result, &finder->error);
}

/* --- searches --- */

/* Adds the times of a search, whose other times the catalogue has already. */
static void add_timings(struct srcfind_timings *all, const struct srcfind_timings *search) {
    all->transfer += search->transfer;
    all->scan += search->scan;
    all->clip += search->clip;
    all->islands += search->islands;
    all->clip_method = search->clip_method;
}

/* Fits on a GPU. *done is false if none is free, or it failed and the user did not ask for it. */
static enum srcfind_status fit_on_gpu(struct srcfind *finder, const struct fit_frame *frame,
                                      const struct fit_pixel *pixels, struct fit_job *jobs,
                                      int64_t n, bool *done, struct error *error) {
    const bool is_requested = finder_wants_gpu(&finder->options);
    struct gpu_context *context;
    enum srcfind_status status =
        gpu_take(finder->gpu, is_requested ? GPU_WAIT : GPU_IF_FREE, &context, error);
    *done = status != SRCFIND_OK || context;
    if (!context)
        return status;
    status = gpu_fit(finder->gpu, context, frame, pixels, jobs, n, finder->threads, error);
    gpu_give(finder->gpu, context);
    *done = status != SRCFIND_ERROR_DEVICE || is_requested;
    return status;
}

/* What fits a catalogue's sources. */
struct fitting {
    struct srcfind *finder;
    const struct srcfind_run *run;
};

/* Fits where the islands were found; the results are the same everywhere. */
static enum srcfind_status fit(void *context, const struct fit_frame *frame,
                               const struct fit_pixel *pixels, struct fit_job *jobs, int64_t n,
                               struct threads *threads, struct error *error) {
    const struct fitting *f = context;
    if (strcmp(f->run->backend, "cuda") == 0) {
        bool done;
        const enum srcfind_status status =
            fit_on_gpu(f->finder, frame, pixels, jobs, n, &done, error);
        if (done)
            return status;
    }
    return cpu_fit(frame, pixels, jobs, n, threads, error);
}

/* Finds the islands once more, with their runs, if the detection did not return these. */
static enum srcfind_status find_pixels(struct srcfind *finder, const struct pixel_source *source,
                                       const struct detection *detection,
                                       struct detection_result *result) {
    if (!detection->keep_runs || result->segments.runs)
        return SRCFIND_OK;
    segments_clear(&result->segments);
    return cpu_find_segments(source, detection, &result->noise, result->background.empty,
                             finder->threads, &result->segments, &finder->error);
}

/* Makes the sources of a detection, with pixels on the host where these are needed. */
static enum srcfind_status make_sources(struct srcfind *finder, const struct search_input *input,
                                        const struct detection *detection,
                                        const struct srcfind_catalogue *catalogue,
                                        struct detection_result *result, struct sources *sources) {
    struct device_copy copy = {0};
    struct fitting fitting = {finder, &catalogue->run};
    enum srcfind_status status = SRCFIND_OK;
    if (input->on_device && (detection->keep_runs || *finder->options.at))
        status = device_copy_make(&copy, finder->gpu, input->on_device, &finder->error);
    const struct sources_from from = {.options = &finder->options,
                                      .at = finder->at,
                                      .pixels = {input->on_device ? &copy.source : input->source,
                                                 &result->noise, detection->maps},
                                      .image = input->image,
                                      .metadata = &catalogue->image,
                                      .detection = detection,
                                      .fitter = {fit, &fitting}};
    if (status == SRCFIND_OK)
        status = find_pixels(finder, from.pixels.source, detection, result);
    if (status == SRCFIND_OK)
        status = sources_make(&from, result, finder->threads, sources, &finder->error);
    device_copy_clear(&copy);
    return status;
}

/* Detects islands, and makes the sources, which the caller clears. The caller clears the result,
 * too, also after an error. */
static enum srcfind_status
detect_and_measure(struct srcfind *finder, const struct search_input *input,
                   const struct detection *detection, struct srcfind_catalogue *catalogue,
                   struct detection_result *result, struct sources *sources) {
    enum srcfind_status status = detect(finder, input, detection, catalogue, result);
    const double start = clock_seconds();
    if (status == SRCFIND_OK)
        status = make_sources(finder, input, detection, catalogue, result, sources);
    add_timings(&catalogue->timings, &result->timings);
    catalogue->timings.measure += clock_seconds() - start;
    return status;
}

/* Finds the sources of the negated image, and adds them to those of the image. */
static enum srcfind_status find_negative(struct srcfind *finder, const struct search_input *input,
                                         const struct detection *detection,
                                         struct srcfind_catalogue *catalogue) {
    struct negated_image negative;
    struct device_pixels on_device;
    struct search_input negated_input = {.image = input->image};
    negative_make(&negative, input->source, detection);
    if (input->on_device) {
        on_device = *input->on_device;
        on_device.negated = true;
        negated_input.on_device = &on_device;
    } else {
        negated_input.source = &negative.source;
    }
    struct detection_result result = {0};
    struct sources sources = {0};
    enum srcfind_status status = detect_and_measure(finder, &negated_input, &negative.detection,
                                                    catalogue, &result, &sources);
    if (status == SRCFIND_OK && !negative_add(catalogue, &sources))
        status = error_memory(&finder->error, "adding negative sources");
    sources_clear(&sources);
    detection_result_clear(&result);
    return status;
}

/* Whether all pixels of the image are blank, with a mask or map. */
static bool is_blank_as_given(const struct search_input *input,
                              const struct srcfind_background *b) {
    return input->image->given && b->n_pixels > 0 && b->n_blank == b->n_pixels;
}

/* Finds the sources of the image, and describes its noise. */
static enum srcfind_status find_positive(struct srcfind *finder, const struct search_input *input,
                                         const struct detection *detection,
                                         struct srcfind_catalogue *catalogue) {
    struct detection_result result = {0};
    struct sources sources = {0};
    enum srcfind_status status =
        detect_and_measure(finder, input, detection, catalogue, &result, &sources);
    catalogue->sources = sources.rows;
    catalogue->gaussians = sources.gaussians;
    catalogue->frame = sources.frame;
    catalogue->n_sources = sources.n;
    if (status == SRCFIND_OK && !noise_describe(detection, &result.noise, &result.background))
        status = error_memory(&finder->error, "measuring local noise");
    if (status == SRCFIND_ERROR_INPUT && is_blank_as_given(input, &result.background))
        status =
            given_explain_blank(input->image->given, result.background.n_pixels, &finder->error);
    segments_clear(&result.segments);
    catalogue->noise = result.noise;
    catalogue->background = result.background;
    return status;
}

enum srcfind_status search_image(struct srcfind *finder, const struct search_input *input,
                                 struct srcfind_catalogue *catalogue) {
    const struct detection detection =
        finder_detection(&finder->options, input->image, &catalogue->image);
    struct sampled sample = {0};
    struct pixel_source source;
    struct search_input sampled = *input;
    enum srcfind_status status = SRCFIND_OK;
    catalogue->options = finder->options;
    catalogue->run.threads = finder->options.threads;
    catalogue_name_columns(catalogue);
    if (input->source && !sampled_source(&sample, input->source, &source))
        status = error_memory(&finder->error, "keeping a sample");
    sampled.source = input->source ? &source : NULL;
    if (status == SRCFIND_OK)
        status = find_positive(finder, &sampled, &detection, catalogue);
    if (status == SRCFIND_OK && finder->options.negative)
        status = find_negative(finder, input, &detection, catalogue);
    if (status == SRCFIND_OK && !quality_find(&sample, catalogue))
        status = error_memory(&finder->error, "comparing the noise from place to place");
    sampled_clear(&sample);
    return status;
}
