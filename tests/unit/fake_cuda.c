#include "fake_cuda.h"

#include <stdlib.h>
#include <time.h>

#include "cpu/fit.h"
#include "input/memory_source.h"
#include "input/pixel_change.h"

struct fake_counts fake_counts;

struct cuda {
    int device, n_searches;
    int64_t memory;
    bool lost;
    atomic_bool in_use;
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
    (*cuda)->memory = (memory > 0 ? memory : FAKE_FREE_MEMORY) / n_sharing;
    fake_counts.memory += (*cuda)->memory;
    fake_counts.uploaders = n_uploaders;
    return SRCFIND_OK;
}

void cuda_close(struct cuda *cuda) {
    fake_counts.closed++;
    free(cuda);
}

int64_t cuda_memory(const struct cuda *cuda) {
    return cuda->memory;
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

enum srcfind_status cuda_detect(struct cuda *cuda, const struct pixel_source *source,
                                const struct detection *detection, struct threads *threads,
                                struct detection_result *result, struct error *error) {
    enum srcfind_status status;
    begin_search(cuda);
    if (cuda->lost)
        status = error_set(error, SRCFIND_ERROR_DEVICE,
                           "CUDA device %d (fake): unspecified "
                           "launch failure while searching; --cpu works without it",
                           cuda->device);
    else if (fake_counts.most_at_once < setting("FAKE_CUDA_TOGETHER", 0))
        status = error_set(error, SRCFIND_ERROR_DEVICE, "the searches are not at the same time");
    else
        status = cpu_detect(source, detection, threads, result, error);
    fake_counts.at_once--;
    cuda->in_use = false;
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
    return cuda_detect(cuda, &source, detection, threads, result, error);
}

/* The image is never kept: is_on_device is false. */
enum srcfind_status cuda_gather(struct cuda *cuda, const struct placed_runs *runs,
                                struct threads *threads, float *values, struct error *error) {
    (void)cuda, (void)runs, (void)threads, (void)values;
    return error_set(error, SRCFIND_ERROR_DEVICE, "the image is not kept");
}

enum srcfind_status cuda_smooth(struct cuda *cuda, const struct smoothing *smoothing,
                                const struct smoothing_model *model, int64_t width, int64_t height,
                                struct threads *threads, struct device_pixels *samples,
                                int64_t *n_samples, struct error *error) {
    (void)cuda, (void)smoothing, (void)model, (void)width, (void)height;
    (void)threads, (void)samples, (void)n_samples;
    return error_set(error, SRCFIND_ERROR_DEVICE, "the image is not kept");
}

enum srcfind_status cuda_fit(struct cuda *cuda, const struct fit_frame *frame,
                             const struct fit_pixel *pixels, struct fit_job *jobs, int64_t n,
                             struct threads *threads, struct error *error) {
    (void)cuda;
    return cpu_fit(frame, pixels, jobs, n, threads, error);
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
