#include "fake_cuda.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/fit.h"
#include "input/chunks.h"
#include "input/memory_source.h"
#include "input/pixel_change.h"
#include "measure/smooth.h"

struct fake_counts fake_counts;

/* Pixels that the device keeps; NULL: none. */
struct kept {
    float *pixels;
    int64_t width, height;
};

struct cuda {
    int device, n_searches;
    int64_t memory;
    bool lost;
    atomic_bool in_use;
    struct kept searched, image, samples; /* searched: the image, or samples of it */
};

static int setting(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static void rest(int milliseconds) {
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

int cuda_count(struct error *error) {
    const int n = setting("FAKE_CUDA_DEVICES", 1);
    if (n == 0)
        error_set(error, SRCFIND_ERROR_DEVICE, "no CUDA-capable device is detected");
    return n;
}

void cuda_versions(int *built, int *driver) {
    *built = *driver = 13000;
}

enum srcfind_status cuda_open(int device, int64_t memory, int n_sharing, int n_uploaders,
                              struct cuda **cuda, struct error *error) {
    const int refused = setting("FAKE_CUDA_REFUSED", 0);
    rest(setting("FAKE_CUDA_START", 0));
    *cuda = NULL;
    if (atomic_fetch_add(&fake_counts.opened, 1) + 1 >= refused && refused > 0) {
        atomic_fetch_sub(&fake_counts.opened, 1);
        fake_counts.refused++;
        return error_set(error, SRCFIND_ERROR_DEVICE, "CUDA device %d: refused", device);
    }
    *cuda = calloc(1, sizeof **cuda);
    if (!*cuda)
        return error_memory(error, "opening");
    (*cuda)->device = device;
    const int64_t all = FAKE_FREE_MEMORY * (int64_t)setting("FAKE_CUDA_GIB", 1);
    (*cuda)->memory = (memory > 0 ? memory : all) / n_sharing;
    fake_counts.memory += (*cuda)->memory;
    fake_counts.uploaders = n_uploaders;
    return SRCFIND_OK;
}

static void forget(struct kept *kept) {
    free(kept->pixels);
    *kept = (struct kept){0};
}

void cuda_close(struct cuda *cuda) {
    fake_counts.closed++;
    if (cuda) {
        forget(&cuda->searched);
        forget(&cuda->image);
        forget(&cuda->samples);
    }
    free(cuda);
}

int64_t cuda_memory(const struct cuda *cuda) {
    return cuda->memory;
}

void cuda_limit_memory(struct cuda *cuda, int64_t memory) {
    fake_counts.memory += memory - cuda->memory;
    cuda->memory = memory;
}

const char *cuda_name(const struct cuda *cuda) {
    (void)cuda;
    return "fake";
}

bool cuda_is_lost(const struct cuda *cuda) {
    return cuda->lost;
}

static bool search_may_end(void) {
    bool (*may_end)(const struct fake_counts *) = fake_counts.search_may_end;
    return (!may_end || may_end(&fake_counts)) &&
           fake_counts.most_at_once >= setting("FAKE_CUDA_TOGETHER", 0);
}

/* Waits for what the test asks for; a minute at most, so that a wrong pool fails and does not hang.
 */
static void wait_for_test(void) {
    for (int i = 0; i < 60000 && !search_may_end(); i++)
        rest(1);
}

static void begin_search(struct cuda *cuda) {
    const int at_once = atomic_fetch_add(&fake_counts.at_once, 1) + 1;
    int most = fake_counts.most_at_once;
    while (most < at_once &&
           !atomic_compare_exchange_weak(&fake_counts.most_at_once, &most, at_once))
        ;
    if (atomic_exchange(&cuda->in_use, true))
        fake_counts.overlaps++;
    fake_counts.searches++;
    fake_counts.searches_of[cuda->device % FAKE_DEVICES_MOST]++;
    cuda->lost = ++cuda->n_searches == setting("FAKE_CUDA_LOST", 0);
    rest(setting("FAKE_CUDA_SEARCH", 0));
    wait_for_test();
}

/* Keeps the pixels of a source, after others. */
static enum srcfind_status keep(struct kept *kept, const struct pixel_source *source,
                                struct error *error) {
    const int64_t n = source->width * source->height, most = source->chunk_pixels;
    uint32_t *buffer = malloc((size_t)most * sizeof *buffer);
    forget(kept);
    *kept = (struct kept){malloc((size_t)n * sizeof(float)), source->width, source->height};
    enum srcfind_status status =
        buffer && kept->pixels ? SRCFIND_OK : error_memory(error, "keeping an image");
    for (int64_t i = 0; status == SRCFIND_OK && i < n; i += most) {
        const int64_t count = n - i < most ? n - i : most;
        const uint32_t *pixels = source->read(source->state, i, count, buffer, error);
        for (int64_t k = 0; pixels && k < count; k++)
            kept->pixels[i + k] = pixel_value(pixels, k, source->swapped);
        status = pixels ? SRCFIND_OK : SRCFIND_ERROR_INPUT;
    }
    free(buffer);
    return status;
}

/* Searches as the CPU does, but does not know of searches for the noise alone. */
static enum srcfind_status search(struct cuda *cuda, const struct pixel_source *source,
                                  const struct detection *detection, struct threads *threads,
                                  struct detection_result *result, struct error *error) {
    struct detection known = *detection;
    known.noise_only = false;
    enum srcfind_status status = cpu_detect(source, &known, threads, result, error);
    forget(&cuda->searched);
    if (status != SRCFIND_OK || !setting("FAKE_CUDA_KEEPS", 0))
        return status;
    status = keep(&cuda->searched, source, error);
    result->is_on_device = status == SRCFIND_OK;
    return status;
}

/* Begins what a device does with an image. An error where the device is lost. */
static enum srcfind_status begin_work(struct cuda *cuda, struct error *error) {
    begin_search(cuda);
    if (cuda->lost)
        return error_set(error, SRCFIND_ERROR_DEVICE,
                         "CUDA device %d (fake): unspecified "
                         "launch failure while searching; --cpu works without it",
                         cuda->device);
    return fake_counts.most_at_once < setting("FAKE_CUDA_TOGETHER", 0)
               ? error_set(error, SRCFIND_ERROR_DEVICE, "the searches are not at the same time")
               : SRCFIND_OK;
}

static void end_work(struct cuda *cuda) {
    fake_counts.at_once--;
    cuda->in_use = false;
}

static enum srcfind_status search_once(struct cuda *cuda, const struct pixel_source *source,
                                       const struct detection *detection, struct threads *threads,
                                       struct detection_result *result, struct error *error) {
    enum srcfind_status status = begin_work(cuda, error);
    if (status == SRCFIND_OK)
        status = search(cuda, source, detection, threads, result, error);
    end_work(cuda);
    return status;
}

enum srcfind_status cuda_detect(struct cuda *cuda, const struct pixel_source *source,
                                const struct detection *detection, struct threads *threads,
                                struct detection_result *result, struct error *error) {
    enum srcfind_status status = search_once(cuda, source, detection, threads, result, error);
    forget(&cuda->image);
    forget(&cuda->samples);
    if (status == SRCFIND_OK && result->is_on_device)
        status = keep(&cuda->image, source, error);
    return status;
}

enum srcfind_status cuda_detect_pixels(struct cuda *cuda, const struct device_pixels *pixels,
                                       const struct detection *detection, struct threads *threads,
                                       struct detection_result *result, struct error *error) {
    struct memory memory = {(const uint32_t *)(const void *)pixels->pixels, pixels->width,
                            pixels->row_stride};
    struct changed changed;
    struct pixel_source source = memory_source(&memory, pixels->height, pixels->swapped);
    source = changed_source(&changed, &source, pixels->change);
    return search_once(cuda, &source, detection, threads, result, error);
}

enum srcfind_status cuda_keep(struct cuda *cuda, const struct pixel_source *source,
                              struct threads *threads, bool *is_kept, struct error *error) {
    (void)threads;
    forget(&cuda->searched);
    forget(&cuda->image);
    forget(&cuda->samples);
    enum srcfind_status status = begin_work(cuda, error);
    *is_kept = status == SRCFIND_OK && setting("FAKE_CUDA_KEEPS", 0);
    if (*is_kept)
        status = keep(&cuda->image, source, error);
    end_work(cuda);
    return status;
}

enum srcfind_status cuda_gather(struct cuda *cuda, const struct gathered_runs *runs,
                                struct threads *threads, float *values, struct error *error) {
    const struct kept *kept = &cuda->searched;
    (void)threads;
    if (!kept->pixels)
        return error_set(error, SRCFIND_ERROR_DEVICE, "the image is not kept");
    for (int64_t i = 0; i < runs->n; i++) {
        const struct run *run = &runs->runs[i];
        if (run_length(run) > 0)
            memcpy(values + runs->first[i], kept->pixels + run->y * kept->width + run->x0,
                   (size_t)run_length(run) * sizeof *values);
    }
    return SRCFIND_OK;
}

static enum srcfind_status put(void *context, int64_t y, int64_t n, const float *samples,
                               struct error *error) {
    const struct kept *kept = context;
    (void)error;
    memcpy(kept->pixels + y * kept->width, samples, (size_t)(n * kept->width) * sizeof *samples);
    return SRCFIND_OK;
}

/* Smooths the image; the samples are then what was searched last. */
enum srcfind_status cuda_smooth(struct cuda *cuda, const struct smoothing *smoothing,
                                const struct smoothing_model *less, int64_t width, int64_t height,
                                struct threads *threads, struct device_pixels *samples,
                                int64_t *n_samples, struct error *error) {
    struct memory memory = {(const uint32_t *)(const void *)cuda->image.pixels, width, width};
    const struct pixel_source source = memory_source(&memory, height, false);
    const struct model model = {
        less->gaussians,        {0, 0, width, height, less->side}, less->n_x, less->n_y,
        (int64_t *)less->first, (int32_t *)less->reaching};
    const int64_t n = smoothing->width * smoothing->height;
    const struct smooth_work work = {smoothing, &source, &model, put, &cuda->samples};
    if (!cuda->image.pixels)
        return error_set(error, SRCFIND_ERROR_DEVICE, "the image is not kept");
    forget(&cuda->samples);
    cuda->samples =
        (struct kept){malloc((size_t)n * sizeof(float)), smoothing->width, smoothing->height};
    if (!cuda->samples.pixels)
        return error_memory(error, "smoothing the image");
    enum srcfind_status status = smooth(&work, threads, n_samples, error);
    *samples = (struct device_pixels){.pixels = cuda->samples.pixels,
                                      .width = smoothing->width,
                                      .height = smoothing->height,
                                      .row_stride = smoothing->width};
    memory = (struct memory){(const uint32_t *)(const void *)cuda->samples.pixels, smoothing->width,
                             smoothing->width};
    const struct pixel_source of_samples = memory_source(&memory, smoothing->height, false);
    return status == SRCFIND_OK ? keep(&cuda->searched, &of_samples, error) : status;
}

enum srcfind_status cuda_fit(struct cuda *cuda, const struct fit_pixel *pixels,
                             struct fit_job *jobs, int64_t n, struct threads *threads,
                             struct error *error) {
    (void)cuda;
    return cpu_fit(pixels, jobs, n, threads, error);
}

enum srcfind_status cuda_bench(struct cuda *cuda, const struct pixel_source *source,
                               const struct detection *detection, struct threads *threads, int n,
                               struct cuda_round *rounds, struct error *error) {
    (void)cuda;
    for (int i = 0; i < n; i++) {
        struct detection_result result;
        const enum srcfind_status status = cpu_detect(source, detection, threads, &result, error);
        if (status != SRCFIND_OK)
            return status;
        segments_clear(&result.segments);
        rounds[i] = (struct cuda_round){.read = 1e-5, .copy = 3e-4, .search = result.timings};
    }
    return SRCFIND_OK;
}
