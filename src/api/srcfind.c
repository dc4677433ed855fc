/* The public calls for finders and searches.
 *
 * A finder has its own copy of the options, its own threads, and a share in the pool of GPUs, which
 * finders made together have in common. A search
 * 1. opens the input (input.c), the image with its mask and maps, or wraps pixels of the caller,
 * 2. fills the result of a new catalogue (find.c),
 * 3. checks that no file changed meanwhile, and that the caller does not interrupt,
 * 4. lets the catalogue take columns and rows from its result; after an error destroys it.
 *
 * The finder keeps the message of an error, which begins with the path of the image. */
#include "srcfind.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <cjson/cJSON.h>
#include <expat.h>
#include <libdeflate.h>
#include <wcslib/wcs.h>
#include <zlib.h>

#include "api/find.h"
#include "api/finder.h"
#include "api/pixels.h"
#include "common/clock.h"
#include "common/format_double.h"
#include "common/interrupt.h"
#include "common/stack.h"
#include "cpu/variants.h"
#include "gpu/module.h"
#include "input/fits/cfitsio.h"
#include "output/catalogue.h"
#include "output/picture/picture.h"

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

/* A finder with n_threads threads, at least 1; NULL where memory ran out. */
static struct srcfind *make_finder(const struct options *options,
                                   const struct srcfind_options *given, int n_threads) {
    struct srcfind *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    if (!options_copy(&f->options, options)) {
        options_clear(&f->options);
        free(f);
        return NULL;
    }
    if (given) {
        f->at = shared_table_share(given->at);
        f->inject = shared_table_share(given->inject);
        f->regions = shared_regions_share(given->regions);
    }
    f->options.threads = n_threads < 1 ? 1 : n_threads;
    if (f->options.island == 0)
        f->options.island = f->options.threshold;
    return f;
}

/* Checks the options, and makes the threads and the pool of GPUs. */
static enum srcfind_status start_finders(const struct options *options, int n, int n_threads,
                                         struct srcfind **finders) {
    struct error *error = &finders[0]->error;
    enum srcfind_status status = stack_check(error);
    if (status == SRCFIND_OK)
        status = options_check(options, error);
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
        finders[i] =
            made ? make_finder(&options, given, n_threads / n + (i < n_threads % n)) : NULL;
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
        shared_table_release(finder->at);
        shared_table_release(finder->inject);
        shared_regions_release(finder->regions);
        options_clear(&finder->options);
        threads_destroy(finder->threads);
    }
    free(finder);
}

void srcfind_set_interrupted(struct srcfind *finder, bool (*interrupted)(void *user), void *user) {
    struct interrupt *interrupt = threads_interrupt(finder->threads);
    if (interrupt) {
        interrupt->interrupted = interrupted;
        interrupt->user = user;
    }
}

bool srcfind_device_is_usable(struct srcfind *finder) {
    return finder->gpu && gpu_is_usable(finder->gpu);
}

const char *srcfind_message(const struct srcfind *finder) {
    return finder ? finder->error.text : "out of memory";
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
    if (status == SRCFIND_OK)
        catalogue_complete(catalogue);
    else
        catalogue_destroy(catalogue);
    return status;
}

/* Searches an input that was opened with this status, and closes it. */
static enum srcfind_status search_input(enum srcfind_status status, struct srcfind *finder,
                                        struct input *input, struct result *result) {
    if (status == SRCFIND_OK)
        status = find_catalogue(finder, input, result);
    if (status == SRCFIND_OK)
        status = input_unchanged(input, &finder->error);
    if (status == SRCFIND_OK)
        status = threads_check(finder->threads, &finder->error);
    result->origin.version = input->image.file.version;
    input_close(input);
    return status;
}

enum srcfind_status srcfind_find_file(struct srcfind *finder, const char *path,
                                      struct srcfind_catalogue **result) {
    const double start = clock_seconds();
    struct input input;
    struct srcfind_catalogue *catalogue = catalogue_create();
    *result = NULL;
    if (!catalogue)
        return error_memory(&finder->error, "opening an image");
    struct result *found = &catalogue->all->result;
    finder_begin(finder);
    enum srcfind_status status =
        input_open(&input, path, &finder->options, finder->threads, &found->image, &finder->error);
    found->timings.open = clock_seconds() - start;
    const bool is_whole = finder->options.image.trim.x0 == 0; /* else few pixels may be read */
    if (status == SRCFIND_OK && is_whole && finder->gpu && gpu_is_starting(finder->gpu))
        reader_prefetch(&input.image.reader);
    status = search_input(status, finder, &input, found);
    if (status != SRCFIND_OK)
        name_image(&finder->error, path);
    return end_search(status, catalogue, result);
}

/* --- pixels in memory --- */

/* The part of pixels of a device that is searched. */
static struct device_pixels part_of_device(const struct device_pixels *whole,
                                           const struct srcfind_image *image) {
    struct device_pixels part = *whole;
    part.pixels += image->first_y * whole->row_stride + image->first_x;
    part.width = image->width;
    part.height = image->height;
    return part;
}

/* Searches pixels in memory. on_device: pixels of a device, of which `pixels` has only the shape;
 * else NULL. */
static enum srcfind_status find_in_memory(struct srcfind *finder, const struct pixel_source *pixels,
                                          const struct device_pixels *on_device, const char *header,
                                          struct srcfind_catalogue **result) {
    struct input input;
    struct srcfind_catalogue *catalogue = catalogue_create();
    if (!catalogue)
        return error_memory(&finder->error, "opening an image");
    struct result *found = &catalogue->all->result;
    finder_begin(finder);
    enum srcfind_status status =
        input_open_pixels(&input, pixels, header, &finder->options, &found->image, &finder->error);
    struct device_pixels part;
    if (on_device) {
        part = part_of_device(on_device, &found->image);
        input.on_device = &part;
    }
    status = search_input(status, finder, &input, found);
    found->origin.on_device = on_device;
    return end_search(status, catalogue, result);
}

enum srcfind_status srcfind_find_pixels(struct srcfind *finder, const struct srcfind_pixels *pixels,
                                        struct srcfind_catalogue **result) {
    struct srcfind_pixels p;
    *result = NULL;
    const enum srcfind_status status = pixels_read(pixels, &p, &finder->error);
    if (status != SRCFIND_OK)
        return status;
    struct host_pixels host;
    host_pixels_make(&host, &p, finder->options.image.blank);
    return find_in_memory(finder, &host.source, NULL, p.header, result);
}

/* Checks that the options need no pixels on the host: maps are read there, and sources added. */
static enum srcfind_status check_for_device(const struct options *o, struct error *error) {
    if (options_inject(o))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "pixels on a device: completeness is for images in files and in the "
                         "memory of the host: search a copy there");
    if (!*o->mask && !*o->rms_map && !*o->background_map && !*o->detect_on)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "pixels on a device: mask, rms-map, background-map and detect-on are for "
                     "images in files and in the memory of the host: search a copy there, or write "
                     "NaN to pixels that are masked");
}

enum srcfind_status srcfind_find_device_pixels(struct srcfind *finder,
                                               const struct srcfind_pixels *pixels, void *stream,
                                               struct srcfind_catalogue **result) {
    struct srcfind_pixels p;
    *result = NULL;
    enum srcfind_status status = pixels_read(pixels, &p, &finder->error);
    if (status == SRCFIND_OK)
        status = check_for_device(&finder->options, &finder->error);
    if (status != SRCFIND_OK)
        return status;
    if (!finder->gpu)
        return error_set(&finder->error, SRCFIND_ERROR_DEVICE,
                         "pixels on a device cannot be searched by the CPU");
    const struct device_pixels on_device = {
        .pixels = p.values,
        .width = p.width,
        .height = p.height,
        .row_stride = p.row_stride,
        .swapped = p.swapped,
        .stream = stream,
        .change = pixel_change_make(finder->options.image.blank, false, p.swapped)};
    const struct pixel_source shape = {.width = p.width, .height = p.height};
    return find_in_memory(finder, &shape, &on_device, p.header, result);
}

/* --- versions --- */

static char versions[512];
static once_flag versions_once = ONCE_FLAG_INIT;

/* Its functions decide the last digit of positions. */
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
    char cuda[96], number[FORMAT_TEXT];
    const struct cfitsio *cfitsio = cfitsio_load(&ignored);
    const XML_Expat_Version expat = XML_ExpatVersionInfo();
    gpu_versions(cuda, sizeof cuda);
    if (cfitsio)
        cfitsio->ffvers(&cfitsio_version);
    snprintf(number, sizeof number, "%.4g", (double)cfitsio_version);
    snprintf(versions, sizeof versions,
             "srcfind %s\n"
             "CFITSIO %s%s, WCSLIB %s, cJSON %s, zlib %s, libdeflate %s, expat %d.%d.%d, %s, %s\n"
             "backends: cpu (%s); %s",
             SRCFIND_VERSION, format_point(number), cfitsio ? "" : " (not found)",
             wcslib_version(wcslib), cJSON_Version(), zlibVersion(), LIBDEFLATE_VERSION_STRING,
             expat.major, expat.minor, expat.micro, picture_library(), c_library(),
             cpu_variant_choose()->name, cuda);
}

const char *srcfind_versions(void) {
    call_once(&versions_once, format_versions);
    return versions;
}
