/* The public calls for finders and searches. A search calls the stages in their order. */
#include "srcfind.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <cjson/cJSON.h>
#include <wcslib/wcs.h>
#include <zlib.h>

#include "api/finder.h"
#include "api/negative.h"
#include "api/noise.h"
#include "api/pixels.h"
#include "api/quality.h"
#include "backend/backend.h"
#include "common/clock.h"
#include "cpu/noise_maps.h"
#include "cpu/scan.h"
#include "gpu/module.h"
#include "input/fits/cfitsio.h"
#include "input/given.h"
#include "input/image.h"
#include "input/negated.h"
#include "measure/measure.h"
#include "output/catalogue.h"
#include "output/picture/picture.h"

bool finder_wants_gpu(const struct options *o) {
    return o->device >= 0 || o->device == DEVICE_ALL;
}

struct detection finder_detection(const struct options *o, const struct image *image,
                                  const struct srcfind_image *metadata) {
    struct detection detection = {.kappa = o->kappa,
                                  .threshold = o->threshold,
                                  .island = o->island,
                                  .background = o->background,
                                  .rms = o->rms,
                                  .connectivity = o->connectivity == CONNECTIVITY_8 ? 8 : 4,
                                  .min_pixels = o->min_pixels};
    detection.maps.background = given_source(image->given, GIVEN_BACKGROUND);
    detection.maps.rms = given_source(image->given, GIVEN_RMS);
    noise_choose_box(o, metadata, &detection);
    return detection;
}

/* --- finders --- */

int srcfind_available_threads(void) {
    return threads_available();
}

/* Makes the pool of GPUs, which all finders share; none if only the CPU may be used. */
static enum srcfind_status make_gpu(const struct options *options, int n, int n_threads,
                                    struct srcfind *finder) {
    if (options->device == DEVICE_CPU || !gpu_module_exists())
        return SRCFIND_OK;
    finder->gpu = gpu_create(options->device, options->device_memory, n, n_threads);
    if (!finder->gpu)
        return error_memory(&finder->error, "starting CUDA");
    if (finder_wants_gpu(options))
        gpu_start(finder->gpu);
    return SRCFIND_OK;
}

/* A finder with n_threads threads, or 1 if that is less; NULL where memory ran out. */
static struct srcfind *make_finder(const struct options *options, int n_threads) {
    struct srcfind *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->options = *options;
    f->options.threads = n_threads < 1 ? 1 : n_threads;
    if (f->options.island == 0)
        f->options.island = f->options.threshold;
    return f;
}

/* Checks the options, and makes the threads and the pool of GPUs. */
static enum srcfind_status start_finders(const struct options *options, int n, int n_threads,
                                         struct srcfind **finders) {
    struct error *error = &finders[0]->error;
    enum srcfind_status status = options_check(options, error);
    if (status == SRCFIND_OK && finder_wants_gpu(options))
        status = gpu_check(error);
    for (int i = 0; status == SRCFIND_OK && i < n; i++)
        if (!(finders[i]->threads = threads_create(finders[i]->options.threads)))
            status = error_memory(error, "making finders");
    if (status == SRCFIND_OK)
        status = make_gpu(options, n, n_threads, finders[0]);
    for (int i = 1; i < n; i++)
        finders[i]->gpu = gpu_share(finders[0]->gpu);
    return status;
}

enum srcfind_status srcfind_create_many(const struct srcfind_options *given, int n,
                                        struct srcfind **finders) {
    struct options options;
    options_default(&options);
    if (given)
        options = given->values;
    const int n_threads = options.threads == 0 ? threads_available() : options.threads;
    bool made = n > 0;
    for (int i = 0; i < n; i++) {
        finders[i] = made ? make_finder(&options, n_threads / n + (i < n_threads % n)) : NULL;
        made = made && finders[i];
    }
    if (n < 1)
        return SRCFIND_ERROR_OPTIONS;
    if (!made)
        return finders[0] ? error_memory(&finders[0]->error, "making finders")
                          : SRCFIND_ERROR_MEMORY;
    return start_finders(&options, n, n_threads, finders);
}

enum srcfind_status srcfind_create(const struct srcfind_options *options, struct srcfind **finder) {
    return srcfind_create_many(options, 1, finder);
}

void srcfind_destroy(struct srcfind *finder) {
    if (finder) {
        gpu_release(finder->gpu);
        threads_destroy(finder->threads);
    }
    free(finder);
}

bool srcfind_device_is_usable(struct srcfind *finder) {
    return finder->gpu && gpu_is_usable(finder->gpu);
}

const char *srcfind_message(const struct srcfind *finder) {
    return finder ? finder->error.text : "out of memory";
}

/* --- the choice of a backend --- */

/* The pixels: either `source` on the host or `on_device`; the other one is NULL. */
struct input {
    const struct pixel_source *source;
    const struct device_pixels *on_device;
    const struct image *image;
};

/* Records which backend is used, and why. */
static void record_backend(struct srcfind_run *run, const char *backend, const char *device,
                           const char *reason) {
    run->backend = backend;
    snprintf(run->device, sizeof run->device, "%s", device);
    snprintf(run->reason, sizeof run->reason, "%.*s", (int)sizeof run->reason - 1, reason);
}

/* Detects on a GPU. *done is false if no GPU is free and the user did not ask for one. */
static enum srcfind_status detect_on_gpu(struct srcfind *finder, const struct input *input,
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
static const char *reason_for_cpu(const struct srcfind *finder, const struct input *input,
                                  const struct detection *detection) {
    if (!finder->gpu)
        return finder->options.device == DEVICE_CPU ? "as asked" : "built without CUDA";
    if (noise_maps_exist(&detection->maps))
        return "maps of the noise";
    if (input->on_device || finder_wants_gpu(&finder->options))
        return NULL;
    const double n_pixels = (double)input->source->width * (double)input->source->height;
    return gpu_is_worth_it(finder->gpu, n_pixels) ? NULL : "too few pixels for a GPU";
}

/* Detects on a GPU or on the CPU. If the user did not ask for a GPU, the CPU also takes over where
 * the GPU is busy or fails. */
static enum srcfind_status detect(struct srcfind *finder, const struct input *input,
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

/* Detects islands, and measures the *n rows, which the caller frees. The caller clears the result,
 * also after an error. */
static enum srcfind_status detect_and_measure(struct srcfind *finder, const struct input *input,
                                              const struct detection *detection,
                                              struct srcfind_catalogue *catalogue,
                                              struct detection_result *result,
                                              struct srcfind_source **rows, int64_t *n) {
    enum srcfind_status status = detect(finder, input, detection, catalogue, result);
    const double start = clock_seconds();
    *n = result->segments.n;
    if (status == SRCFIND_OK)
        status = measure_islands(result, detection, input->image, &catalogue->image,
                                 finder->threads, rows, &finder->error);
    add_timings(&catalogue->timings, &result->timings);
    catalogue->timings.measure += clock_seconds() - start;
    return status;
}

/* Finds the sources of the negated image, and adds them to those of the image. */
static enum srcfind_status find_negative(struct srcfind *finder, const struct input *input,
                                         const struct detection *detection,
                                         struct srcfind_catalogue *catalogue) {
    struct negated_image negative;
    struct device_pixels on_device;
    struct input negated_input = {.image = input->image};
    negative_make(&negative, input->source, detection);
    if (input->on_device) {
        on_device = *input->on_device;
        on_device.negated = true;
        negated_input.on_device = &on_device;
    } else {
        negated_input.source = &negative.source;
    }
    struct detection_result result = {0};
    struct srcfind_source *rows = NULL;
    int64_t n;
    enum srcfind_status status = detect_and_measure(finder, &negated_input, &negative.detection,
                                                    catalogue, &result, &rows, &n);
    if (status == SRCFIND_OK && !negative_add(catalogue, rows, n))
        status = error_memory(&finder->error, "adding negative sources");
    free(rows);
    detection_result_clear(&result);
    return status;
}

/* Whether all pixels of the image are blank, with a mask or map. */
static bool is_blank_as_given(const struct input *input, const struct srcfind_background *b) {
    return input->image->given && b->n_pixels > 0 && b->n_blank == b->n_pixels;
}

/* Finds the sources of the image, and describes its noise. */
static enum srcfind_status find_positive(struct srcfind *finder, const struct input *input,
                                         const struct detection *detection,
                                         struct srcfind_catalogue *catalogue) {
    struct detection_result result = {0};
    enum srcfind_status status = detect_and_measure(finder, input, detection, catalogue, &result,
                                                    &catalogue->sources, &catalogue->n_sources);
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

static enum srcfind_status find_sources(struct srcfind *finder, const struct input *input,
                                        struct srcfind_catalogue *catalogue) {
    const struct detection detection =
        finder_detection(&finder->options, input->image, &catalogue->image);
    struct sampled sample = {0};
    struct pixel_source source;
    struct input sampled = *input;
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

/* Puts the image's path before a message that does not begin with it. */
static void name_image(struct error *error, const char *path) {
    char text[sizeof error->text];
    const size_t length = strlen(path);
    if (strncmp(error->text, path, length) == 0 && error->text[length] == ':')
        return;
    memcpy(text, error->text, sizeof text);
    snprintf(error->text, sizeof error->text, "%.4096s: %.1000s", path, text);
}

/* Passes the catalogue to the caller, or destroys it after an error. */
static enum srcfind_status end_search(enum srcfind_status status,
                                      struct srcfind_catalogue *catalogue,
                                      struct srcfind_catalogue **result) {
    *result = status == SRCFIND_OK ? catalogue : NULL;
    if (status != SRCFIND_OK)
        srcfind_catalogue_destroy(catalogue);
    return status;
}

enum srcfind_status srcfind_find_file(struct srcfind *finder, const char *path,
                                      struct srcfind_catalogue **result) {
    const double start = clock_seconds();
    struct image image;
    struct srcfind_catalogue *catalogue = calloc(1, sizeof *catalogue);
    *result = NULL;
    if (!catalogue)
        return error_memory(&finder->error, "opening an image");
    enum srcfind_status status =
        image_open(&image, path, &finder->options, &catalogue->image, &finder->error);
    catalogue->timings.open = clock_seconds() - start;
    const struct input input = {.source = &image.source, .image = &image};
    if (status == SRCFIND_OK && finder->gpu && gpu_is_starting(finder->gpu))
        reader_prefetch(&image.reader);
    if (status == SRCFIND_OK)
        status = find_sources(finder, &input, catalogue);
    if (status == SRCFIND_OK)
        status = image_unchanged(&image, &finder->error);
    catalogue->version = image.file.version;
    image_close(&image);
    if (status != SRCFIND_OK)
        name_image(&finder->error, path);
    return end_search(status, catalogue, result);
}

/* --- pixels in memory --- */

static enum srcfind_status find_in_memory(struct srcfind *finder, struct input *input,
                                          const struct srcfind_pixels *p,
                                          struct srcfind_catalogue **result) {
    struct image image;
    struct srcfind_catalogue *catalogue = calloc(1, sizeof *catalogue);
    if (!catalogue)
        return error_memory(&finder->error, "opening an image");
    enum srcfind_status status =
        image_open_memory(&image, p->header, p->width, p->height, &finder->options,
                          &catalogue->image, &finder->error);
    input->image = &image;
    if (status == SRCFIND_OK)
        status = find_sources(finder, input, catalogue);
    input->image = NULL;
    image_close(&image);
    catalogue->on_device = input->on_device != NULL;
    return end_search(status, catalogue, result);
}

enum srcfind_status srcfind_find_pixels(struct srcfind *finder, const struct srcfind_pixels *pixels,
                                        struct srcfind_catalogue **result) {
    struct srcfind_pixels p;
    *result = NULL;
    const enum srcfind_status status = pixels_read(pixels, &finder->options, &p, &finder->error);
    if (status != SRCFIND_OK)
        return status;
    struct host_pixels host;
    host_pixels_make(&host, &p, finder->options.blank);
    struct input input = {.source = &host.source};
    return find_in_memory(finder, &input, &p, result);
}

enum srcfind_status srcfind_find_device_pixels(struct srcfind *finder,
                                               const struct srcfind_pixels *pixels, void *stream,
                                               struct srcfind_catalogue **result) {
    struct srcfind_pixels p;
    *result = NULL;
    const enum srcfind_status status = pixels_read(pixels, &finder->options, &p, &finder->error);
    if (status != SRCFIND_OK)
        return status;
    if (!finder->gpu)
        return error_set(&finder->error, SRCFIND_ERROR_DEVICE,
                         "pixels on a device cannot be searched by the CPU");
    const struct device_pixels on_device = {.pixels = p.values,
                                            .width = p.width,
                                            .height = p.height,
                                            .row_stride = p.row_stride,
                                            .swapped = p.swapped,
                                            .stream = stream,
                                            .has_blank = !isnan(finder->options.blank),
                                            .blank = (float)finder->options.blank};
    struct input input = {.on_device = &on_device};
    return find_in_memory(finder, &input, &p, result);
}

/* --- versions --- */

static char versions[512];
static once_flag versions_once = ONCE_FLAG_INIT;

/* Positions depend on it in their last digit. */
static const char *c_library(void) {
#ifdef __GLIBC__
    static char text[32];
    snprintf(text, sizeof text, "glibc %s", gnu_get_libc_version());
    return text;
#else
    return "a C library other than glibc";
#endif
}

static void format_versions(void) {
    int wcslib[3];
    float cfitsio_version = 0;
    struct error ignored;
    char cuda[96];
    const struct cfitsio *cfitsio = cfitsio_load(&ignored);
    gpu_versions(cuda, sizeof cuda);
    if (cfitsio)
        cfitsio->ffvers(&cfitsio_version);
    snprintf(versions, sizeof versions,
             "srcfind %s\n"
             "CFITSIO %.4g%s, WCSLIB %s, cJSON %s, zlib %s, %s, %s\n"
             "backends: cpu (%s); %s",
             SRCFIND_VERSION, (double)cfitsio_version, cfitsio ? "" : " (not found)",
             wcslib_version(wcslib), cJSON_Version(), zlibVersion(), picture_library(), c_library(),
             scan_variant_choose()->name, cuda);
}

const char *srcfind_versions(void) {
    call_once(&versions_once, format_versions);
    return versions;
}
