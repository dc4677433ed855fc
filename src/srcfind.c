/* The public calls: a finder, and the stages in their order. */
#include "srcfind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include <cjson/cJSON.h>
#include <wcslib/wcs.h>

#include "backend.h"
#include "catalogue.h"
#include "clock.h"
#include "cpu/parallel.h"
#include "cpu/scan.h"
#include "image.h"
#include "measure.h"
#include "save.h"

struct srcfind {
    struct srcfind_options options;
    struct error error;
};

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
    if (o->device != SRCFIND_DEVICE_AUTO && o->device != SRCFIND_DEVICE_CPU)
        return error_set(error, SRCFIND_ERROR_DEVICE,
                         "this srcfind was built without CUDA and can only use the CPU");
    return SRCFIND_OK;
}

/* --- finders --- */

enum srcfind_status srcfind_create(const struct srcfind_options *options, struct srcfind **finder) {
    struct srcfind *f = *finder = calloc(1, sizeof *f);
    if (!f)
        return SRCFIND_ERROR_MEMORY;
    f->options = *options;
    if (f->options.island == 0)
        f->options.island = f->options.threshold;
    if (f->options.threads == 0)
        f->options.threads = parallel_available();
    return check_options(&f->options, &f->error);
}

void srcfind_destroy(struct srcfind *finder) {
    free(finder);
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

static struct detection detection_of(const struct srcfind_options *o) {
    return (struct detection){.kappa = o->kappa,
                              .threshold = o->threshold,
                              .island = o->island,
                              .subtract_background = o->subtract_background,
                              .connectivity = o->connectivity,
                              .min_pixels = o->min_pixels};
}

/* From pixels to sources. image is NULL for pixels in memory. */
static enum srcfind_status find(struct srcfind *finder, const struct pixel_source *source,
                                const struct image *image, struct srcfind_catalogue *catalogue) {
    const struct detection detection = detection_of(&finder->options);
    struct detection_result result;
    const double opened = catalogue->timings.open;
    catalogue->options = finder->options;
    catalogue->options.hdu = NULL; /* belongs to the caller, and may not last */
    catalogue->backend = "cpu";
    catalogue->threads = finder->options.threads;
    enum srcfind_status status =
        cpu_detect(source, &detection, finder->options.threads, &result, &finder->error);
    const double start = clock_seconds();
    if (status == SRCFIND_OK)
        status = measure_islands(&result, &detection, image, catalogue, &finder->error);
    catalogue->background = result.background;
    catalogue->timings = result.timings;
    catalogue->timings.open = opened;
    catalogue->timings.measure = clock_seconds() - start;
    free(result.list.islands);
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
    if (status == SRCFIND_OK)
        status = find(finder, &image.source, &image, catalogue);
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

struct memory {
    const float *pixels;
    int64_t width, row_stride;
};

static const uint32_t *read_memory(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct memory *m = state;
    (void)error;
    if (m->row_stride == m->width)
        return (const uint32_t *)(const void *)(m->pixels + first);
    for (int64_t i = 0; i < count;) {
        const int64_t y = (first + i) / m->width, x = (first + i) % m->width;
        const int64_t n = m->width - x < count - i ? m->width - x : count - i;
        memcpy(buffer + i, m->pixels + y * m->row_stride + x, (size_t)n * sizeof *buffer);
        i += n;
    }
    return buffer;
}

enum srcfind_status srcfind_find_pixels(struct srcfind *finder, const float *pixels, int64_t width,
                                        int64_t height, int64_t row_stride,
                                        struct srcfind_catalogue **result) {
    struct memory memory = {pixels, width, row_stride};
    const struct pixel_source source = {.width = width,
                                        .height = height,
                                        .piece = 1 << 16,
                                        .sample_rows = 256,
                                        .parallel = true,
                                        .state = &memory,
                                        .read = read_memory};
    *result = NULL;
    if (width < 1 || height < 1 || width > INT32_MAX || height > INT32_MAX || row_stride < width)
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
    const enum srcfind_status status = find(finder, &source, NULL, catalogue);
    if (status == SRCFIND_OK)
        *result = catalogue;
    else
        srcfind_catalogue_destroy(catalogue);
    return status;
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
    const struct cfitsio *cfitsio = cfitsio_load(&ignored);
    if (cfitsio)
        cfitsio->ffvers(&cfitsio_version);
    snprintf(versions, sizeof versions,
             "srcfind %s\n"
             "CFITSIO %.4g%s, WCSLIB %s, cJSON %s\n"
             "backends: cpu (%s); built without CUDA",
             SRCFIND_VERSION, (double)cfitsio_version, cfitsio ? "" : " (not found)",
             wcslib_version(wcslib), cJSON_Version(),
             scan_tile_choose() == scan_tile_plain ? "plain" : "AVX2");
}

const char *srcfind_versions(void) {
    call_once(&versions_once, write_versions);
    return versions;
}
