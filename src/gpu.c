#include "gpu.h"

#include <signal.h>
#include <stdlib.h>
#include <threads.h>

#include "gpu_module.h"

struct gpu {
    int device;
    int64_t memory;
    thrd_t thread;
    bool started, done;
    const struct cuda_backend *backend;
    struct cuda *cuda;
    enum srcfind_status status;
    struct error error;
};

static int open_device(void *argument) {
    struct gpu *gpu = argument;
    gpu->backend = gpu_module_load(&gpu->error);
    const int n = gpu->backend ? gpu->backend->count(&gpu->error) : 0;
    if (n == 0)
        gpu->status = SRCFIND_ERROR_DEVICE;
    else if (gpu->device >= n)
        gpu->status = error_set(&gpu->error, SRCFIND_ERROR_DEVICE,
                                "there is no CUDA device %d: they are counted from 0, and there "
                                "%s %d",
                                gpu->device, n == 1 ? "is" : "are", n);
    else
        gpu->status = gpu->backend->open(gpu->device, gpu->memory, &gpu->cuda, &gpu->error);
    return 0;
}

enum srcfind_status gpu_check(struct error *error) {
    int built, driver = 0;
    struct error why;
    const struct cuda_backend *backend = gpu_module_load(&why);
    if (backend)
        backend->versions(&built, &driver);
    if (driver > 0)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_DEVICE, "%.4000s, so only the CPU can be used (--cpu)",
                     backend ? "no CUDA driver is installed" : why.text);
}

struct gpu *gpu_start(int device, int64_t memory) {
    struct gpu *gpu = calloc(1, sizeof *gpu);
    sigset_t all, before;
    if (!gpu)
        return NULL;
    gpu->device = device;
    gpu->memory = memory;
    /* Threads that the driver makes have the mask of this one, for as long as the process lasts:
     * signals are the caller's, who may be holding them back. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    gpu->started = thrd_create(&gpu->thread, open_device, gpu) == thrd_success;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return gpu;
}

enum srcfind_status gpu_wait(struct gpu *gpu, struct error *error) {
    if (!gpu->done && gpu->started)
        thrd_join(gpu->thread, NULL);
    else if (!gpu->done)
        open_device(gpu);
    gpu->done = true;
    if (gpu->status != SRCFIND_OK)
        *error = gpu->error;
    return gpu->status;
}

void gpu_stop(struct gpu *gpu) {
    if (!gpu)
        return;
    if (gpu->started && !gpu->done)
        thrd_join(gpu->thread, NULL);
    if (gpu->cuda)
        gpu->backend->close(gpu->cuda);
    free(gpu);
}

bool gpu_is_starting(const struct gpu *gpu) {
    return gpu->started && !gpu->done;
}

bool gpu_is_usable(struct gpu *gpu) {
    struct error ignored;
    return gpu_wait(gpu, &ignored) == SRCFIND_OK && !gpu->backend->is_lost(gpu->cuda);
}

const char *gpu_name(const struct gpu *gpu) {
    return gpu->backend->name(gpu->cuda);
}

enum srcfind_status gpu_detect(struct gpu *gpu, const struct pixel_source *source,
                               const struct detection *detection, int n_threads,
                               struct detection_result *result, struct error *error) {
    return gpu->backend->detect(gpu->cuda, source, detection, n_threads, result, error);
}

enum srcfind_status gpu_detect_pixels(struct gpu *gpu, const struct device_pixels *pixels,
                                      const struct detection *detection, int n_threads,
                                      struct detection_result *result, struct error *error) {
    return gpu->backend->detect_pixels(gpu->cuda, pixels, detection, n_threads, result, error);
}

void gpu_versions(char *text, size_t size) {
    int built, driver;
    char driver_text[48] = "no driver";
    struct error why;
    const struct cuda_backend *backend = gpu_module_load(&why);
    if (!backend) {
        snprintf(text, size,
                 gpu_module_exists() ? "CUDA (its module cannot be loaded)" : "built without CUDA");
        return;
    }
    backend->versions(&built, &driver);
    if (driver > 0)
        snprintf(driver_text, sizeof driver_text, "driver for %d.%d", driver / 1000,
                 driver % 1000 / 10);
    snprintf(text, size, "CUDA %d.%d (%s)", built / 1000, built % 1000 / 10, driver_text);
}
