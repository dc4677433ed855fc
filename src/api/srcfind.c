/* The public calls: finders, and the stages in their order. */
#include "srcfind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include <cjson/cJSON.h>
#include <wcslib/wcs.h>

#include "backend/backend.h"
#include "output/catalogue.h"
#include "common/clock.h"
#include "common/threads.h"
#include "cpu/scan.h"
#include "api/finder.h"
#include "input/fits/cfitsio.h"
#include "gpu/module.h"
#include "input/image.h"
#include "measure/measure.h"
#include "input/memory_source.h"
#include "output/save.h"

/* --- options --- */

struct srcfind_options srcfind_default_options(void) {
    return (struct srcfind_options){.kappa = 3,
                                    .threshold = 5,
                                    .subtract_background = true,
                                    .connectivity = 4,
                                    .min_pixels = 1,
                                    .beam = {NAN, NAN, NAN},
                                    .device = SRCFIND_DEVICE_AUTO};
}

static bool is_positive(double value) {
    return isfinite(value) && value > 0;
}

bool finder_wants_gpu(const struct srcfind_options *o) {
    return o->device >= 0 || o->device == SRCFIND_DEVICE_ALL;
}

static enum srcfind_status check_options(const struct srcfind_options *o, struct error *error) {
    const enum srcfind_status bad = SRCFIND_ERROR_OPTIONS;
    if (!is_positive(o->kappa))
        return error_set(error, bad, "kappa must be a number above 0");
    if (!is_positive(o->threshold))
        return error_set(error, bad, "threshold must be a number above 0");
    if (!is_positive(o->island) || o->island > o->threshold)
        return error_set(error, bad, "island must be above 0 and at most threshold (%g)",
                         o->threshold);
    if (o->connectivity != 4 && o->connectivity != 8)
        return error_set(error, bad, "connectivity must be 4 or 8");
    if (o->min_pixels < 1)
        return error_set(error, bad, "min-pixels must be 1 or more");
    if (o->threads < 0 || o->threads > SRCFIND_MAX_THREADS)
        return error_set(error, bad, "threads must be between 1 and %d", SRCFIND_MAX_THREADS);
    if (o->n_plane < 0 || o->n_plane > SRCFIND_MAX_AXES)
        return error_set(error, bad, "plane takes up to %d numbers", SRCFIND_MAX_AXES);
    for (int i = 0; i < o->n_plane; i++)
        if (o->plane[i] < 0)
            return error_set(error, bad, "planes are counted from 1");
    const bool no_beam = isnan(o->beam.major) && isnan(o->beam.minor) && isnan(o->beam.angle);
    if (!no_beam &&
        !(is_positive(o->beam.major) && is_positive(o->beam.minor) && isfinite(o->beam.angle)))
        return error_set(error, bad, "a beam's axes must be above 0, and its angle a number");
    if (o->device_memory < 0)
        return error_set(error, bad, "device-memory must not be negative");
    if (o->expected_pixels < 0)
        return error_set(error, bad, "expected-pixels must not be negative");
    if (o->device < SRCFIND_DEVICE_ALL)
        return error_set(error, bad, "device must be auto, cpu, all or a number from 0");
    return finder_wants_gpu(o) ? gpu_check(error) : SRCFIND_OK;
}

/* --- finders --- */

int srcfind_available_threads(void) {
    return parallel_available();
}

/* The GPUs that finders share. */
static enum srcfind_status make_gpu(const struct srcfind_options *options, int n, int n_threads,
                                    struct srcfind *finder) {
    if (options->device == SRCFIND_DEVICE_CPU || !gpu_module_exists())
        return SRCFIND_OK;
    finder->gpu = gpu_create(options->device, options->device_memory, n, n_threads);
    if (!finder->gpu)
        return error_memory(&finder->error, "starting CUDA");
    if (finder_wants_gpu(options))
        gpu_start(finder->gpu);
    else
        gpu_expect(finder->gpu, (double)options->expected_pixels);
    return SRCFIND_OK;
}

/* Finders with the options given, and their share of the threads. */
static bool make_finders(const struct srcfind_options *options, int n, int n_threads,
                         struct srcfind **finders) {
    for (int i = 0; i < n; i++) {
        struct srcfind *f = finders[i] = calloc(1, sizeof *f);
        if (!f)
            return false;
        f->options = *options;
        if (f->options.island == 0)
            f->options.island = f->options.threshold;
        f->options.threads = n_threads / n + (i < n_threads % n);
        if (f->options.threads < 1)
            f->options.threads = 1;
    }
    return true;
}

enum srcfind_status srcfind_create_many(const struct srcfind_options *options, int n,
                                        struct srcfind **finders) {
    const int n_threads = options->threads == 0 ? parallel_available() : options->threads;
    for (int i = 0; i < n; i++)
        finders[i] = NULL;
    if (n < 1)
        return SRCFIND_ERROR_OPTIONS;
    if (!make_finders(options, n, n_threads, finders))
        return finders[0] ? error_memory(&finders[0]->error, "making finders")
                          : SRCFIND_ERROR_MEMORY;
    struct srcfind_options whole = finders[0]->options;
    whole.threads = n_threads;
    enum srcfind_status status = check_options(&whole, &finders[0]->error);
    if (status == SRCFIND_OK)
        status = make_gpu(options, n, n_threads, finders[0]);
    for (int i = 1; i < n; i++)
        finders[i]->gpu = gpu_share(finders[0]->gpu);
    return status;
}

enum srcfind_status srcfind_create(const struct srcfind_options *options, struct srcfind **finder) {
    return srcfind_create_many(options, 1, finder);
}

void srcfind_destroy(struct srcfind *finder) {
    if (finder)
        gpu_release(finder->gpu);
    free(finder);
}

bool srcfind_device_is_usable(struct srcfind *finder) {
    return finder->gpu && gpu_is_usable(finder->gpu);
}

const char *srcfind_message(const struct srcfind *finder) {
    return finder ? finder->error.text : "out of memory";
}

void srcfind_catalogue_destroy(struct srcfind_catalogue *catalogue) {
    if (!catalogue)
        return;
    image_clear_facts(&catalogue->image);
    free(catalogue->sources);
    free(catalogue);
}

struct detection finder_detection(const struct srcfind_options *o) {
    return (struct detection){.kappa = o->kappa,
                              .threshold = o->threshold,
                              .island = o->island,
                              .subtract_background = o->subtract_background,
                              .connectivity = o->connectivity,
                              .min_pixels = o->min_pixels};
}

/* Where pixels come from: from a source on the host, unless they are on a device. */
struct input {
    const struct pixel_source *source;
    const struct device_pixels *on_device;
    const struct image *image; /* NULL for pixels in memory */
};

/* Notes which backend was used, and why. */
static void note_backend(struct srcfind_catalogue *c, const char *backend, const char *device,
                         const char *reason) {
    c->backend = backend;
    snprintf(c->device, sizeof c->device, "%s", device);
    snprintf(c->reason, sizeof c->reason, "%.*s", (int)sizeof c->reason - 1, reason);
}

/* On a device, if one is free or the user asked for it; else *done is false. */
static enum srcfind_status detect_on_gpu(struct srcfind *finder, const struct input *input,
                                         const struct detection *detection,
                                         struct srcfind_catalogue *catalogue,
                                         struct detection_result *result, bool *done) {
    const bool asked = finder_wants_gpu(&finder->options);
    const enum gpu_wait wait = input->on_device ? GPU_WAIT_FIRST : asked ? GPU_WAIT : GPU_IF_FREE;
    const int n_threads = finder->options.threads;
    const double start = clock_seconds();
    struct gpu_context *context;
    enum srcfind_status status = gpu_take(finder->gpu, wait, &context, &finder->error);
    catalogue->timings.start = clock_seconds() - start;
    *done = status != SRCFIND_OK || context;
    if (!context)
        return status;
    note_backend(catalogue, "cuda", gpu_name(finder->gpu, context),
                 asked ? "as asked" : "sooner than the CPU");
    status = input->on_device ? gpu_detect_pixels(finder->gpu, context, input->on_device, detection,
                                                  n_threads, result, &finder->error)
                              : gpu_detect(finder->gpu, context, input->source, detection,
                                           n_threads, result, &finder->error);
    gpu_give(finder->gpu, context);
    return status;
}

/* Why the CPU is to be used before a GPU is even tried; NULL if it is not. */
static const char *reason_for_cpu(const struct srcfind *finder, const struct input *input) {
    if (!finder->gpu)
        return finder->options.device == SRCFIND_DEVICE_CPU ? "as asked" : "built without CUDA";
    if (input->on_device || finder_wants_gpu(&finder->options))
        return NULL;
    return gpu_declines(finder->gpu, (double)input->source->width * (double)input->source->height,
                        finder->options.threads);
}

/* On a GPU or the CPU; where the choice is not the user's, on the CPU also if a GPU cannot do it.
 */
static enum srcfind_status detect(struct srcfind *finder, const struct input *input,
                                  const struct detection *detection,
                                  struct srcfind_catalogue *catalogue,
                                  struct detection_result *result) {
    const char *reason = reason_for_cpu(finder, input);
    if (!reason) {
        bool done;
        const enum srcfind_status status =
            detect_on_gpu(finder, input, detection, catalogue, result, &done);
        const bool may_use_cpu = !finder_wants_gpu(&finder->options) && !input->on_device;
        if (done && (status != SRCFIND_ERROR_DEVICE || !may_use_cpu))
            return status;
        reason = done ? srcfind_message(finder) : "the GPU is busy";
    }
    note_backend(catalogue, "cpu", "", reason);
    return cpu_detect(input->source, detection, finder->options.threads, result, &finder->error);
}

/* From pixels to sources. */
static enum srcfind_status find(struct srcfind *finder, const struct input *input,
                                struct srcfind_catalogue *catalogue) {
    const struct detection detection = finder_detection(&finder->options);
    struct detection_result result = {0};
    catalogue->options = finder->options;
    catalogue->options.hdu = NULL; /* belongs to the caller, and may not last */
    catalogue->threads = finder->options.threads;
    enum srcfind_status status = detect(finder, input, &detection, catalogue, &result);
    const double start = clock_seconds();
    if (status == SRCFIND_OK)
        status = measure_islands(&result, &detection, input->image, catalogue, &finder->error);
    result.timings.open = catalogue->timings.open;
    result.timings.start = catalogue->timings.start;
    result.timings.measure = clock_seconds() - start;
    catalogue->background = result.background;
    catalogue->timings = result.timings;
    return status;
}

/* Puts the image's name before a message that does not have it. */
static void name_image(struct error *error, const char *path) {
    char text[sizeof error->text];
    const size_t length = strlen(path);
    if (strncmp(error->text, path, length) == 0 && error->text[length] == ':')
        return;
    memcpy(text, error->text, sizeof text);
    snprintf(error->text, sizeof error->text, "%.4096s: %.1000s", path, text);
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
        status = find(finder, &input, catalogue);
    if (status == SRCFIND_OK)
        status = fits_file_unchanged(&image.file, &finder->error);
    image_close(&image);
    if (status == SRCFIND_OK) {
        *result = catalogue;
        return status;
    }
    name_image(&finder->error, path);
    srcfind_catalogue_destroy(catalogue);
    return status;
}

/* --- pixels in memory --- */

/* An image of which only the shape is known. */
static enum srcfind_status find_in_memory(struct srcfind *finder, const struct input *input,
                                          int64_t width, int64_t height, int64_t row_stride,
                                          struct srcfind_catalogue **result) {
    *result = NULL;
    if (width < 1 || height < 1 || width > INT32_MAX || height > INT32_MAX || row_stride < width ||
        row_stride > INT64_MAX / 8 / height)
        return error_set(&finder->error, SRCFIND_ERROR_OPTIONS,
                         "pixels in memory: a shape of %lld x %lld with rows %lld apart cannot be",
                         (long long)width, (long long)height, (long long)row_stride);
    struct srcfind_catalogue *catalogue = calloc(1, sizeof *catalogue);
    if (!catalogue)
        return error_memory(&finder->error, "opening an image");
    catalogue->image = image_no_facts();
    catalogue->image.path = strdup("");
    catalogue->image.width = catalogue->image.axes[0] = width;
    catalogue->image.height = catalogue->image.axes[1] = height;
    catalogue->image.n_axes = 2;
    catalogue->image.bitpix = -32;
    const enum srcfind_status status = find(finder, input, catalogue);
    if (status == SRCFIND_OK)
        *result = catalogue;
    else
        srcfind_catalogue_destroy(catalogue);
    return status;
}

enum srcfind_status srcfind_find_pixels(struct srcfind *finder, const float *pixels, int64_t width,
                                        int64_t height, int64_t row_stride,
                                        struct srcfind_catalogue **result) {
    struct memory memory = {(const uint32_t *)(const void *)pixels, width, row_stride};
    const struct pixel_source source = memory_source(&memory, height, false);
    const struct input input = {.source = &source};
    return find_in_memory(finder, &input, width, height, row_stride, result);
}

enum srcfind_status srcfind_find_device_pixels(struct srcfind *finder, const float *pixels,
                                               int64_t width, int64_t height, int64_t row_stride,
                                               void *stream, struct srcfind_catalogue **result) {
    const struct device_pixels on_device = {.pixels = pixels,
                                            .width = width,
                                            .height = height,
                                            .row_stride = row_stride,
                                            .stream = stream};
    const struct input input = {.on_device = &on_device};
    if (!finder->gpu) {
        *result = NULL;
        return error_set(&finder->error, SRCFIND_ERROR_DEVICE,
                         "pixels on a device cannot be searched by the CPU");
    }
    return find_in_memory(finder, &input, width, height, row_stride, result);
}

/* --- catalogues --- */

enum srcfind_status srcfind_catalogue_write(struct srcfind *finder,
                                            const struct srcfind_catalogue *catalogue,
                                            enum srcfind_format format, FILE *stream) {
    return save_stream(catalogue, format, stream, stream == stdout ? "standard output" : "stream",
                       &finder->error);
}

enum srcfind_status srcfind_catalogue_save(struct srcfind *finder,
                                           const struct srcfind_catalogue *catalogue,
                                           enum srcfind_format format, const char *path) {
    return save_file(catalogue, format, path, &finder->error);
}

bool srcfind_catalogue_column(const struct srcfind_catalogue *catalogue, int i,
                              struct srcfind_column *column) {
    if (i < 0 || i >= catalogue_columns())
        return false;
    *column = catalogue_column(catalogue, i);
    return true;
}

static char versions[512];
static once_flag versions_once = ONCE_FLAG_INIT;

static void write_versions(void) {
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
             "CFITSIO %.4g%s, WCSLIB %s, cJSON %s\n"
             "backends: cpu (%s); %s",
             SRCFIND_VERSION, (double)cfitsio_version, cfitsio ? "" : " (not found)",
             wcslib_version(wcslib), cJSON_Version(), scan_variant_choose()->name, cuda);
}

const char *srcfind_versions(void) {
    call_once(&versions_once, write_versions);
    return versions;
}
