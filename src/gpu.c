#include "gpu.h"

#include <stdlib.h>

#ifdef HAVE_CUDA

#include <signal.h>
#include <threads.h>

#include "cuda_backend.h"

struct gpu {
    int device;
    int64_t memory;
    thrd_t thread;
    bool started, done;
    struct cuda *cuda;
    enum srcfind_status status;
    struct error error;
};

static int open_device(void *argument) {
    struct gpu *gpu = argument;
    const int n = cuda_count(&gpu->error);
    if (n == 0)
        gpu->status = SRCFIND_ERROR_DEVICE;
    else if (gpu->device >= n)
        gpu->status = error_set(&gpu->error, SRCFIND_ERROR_DEVICE,
                                "there is no CUDA device %d: they are counted from 0, and there "
                                "%s %d",
                                gpu->device, n == 1 ? "is" : "are", n);
    else
        gpu->status = cuda_open(gpu->device, gpu->memory, &gpu->cuda, &gpu->error);
    return 0;
}

enum srcfind_status gpu_check(struct error *error) {
    int built, driver;
    cuda_versions(&built, &driver);
    if (driver > 0)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_DEVICE,
                     "no CUDA driver is installed, so only the CPU can be used (--cpu)");
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
    cuda_close(gpu->cuda);
    free(gpu);
}

bool gpu_is_starting(const struct gpu *gpu) {
    return gpu->started && !gpu->done;
}

bool gpu_is_usable(struct gpu *gpu) {
    struct error ignored;
    return gpu_wait(gpu, &ignored) == SRCFIND_OK && !cuda_is_lost(gpu->cuda);
}

const char *gpu_name(const struct gpu *gpu) {
    return cuda_name(gpu->cuda);
}

enum srcfind_status gpu_detect(struct gpu *gpu, const struct pixel_source *source,
                               const struct detection *detection, int n_threads,
                               struct detection_result *result, struct error *error) {
    return cuda_detect(gpu->cuda, source, detection, n_threads, result, error);
}

enum srcfind_status gpu_detect_pixels(struct gpu *gpu, const struct device_pixels *pixels,
                                      const struct detection *detection, int n_threads,
                                      struct detection_result *result, struct error *error) {
    return cuda_detect_pixels(gpu->cuda, pixels, detection, n_threads, result, error);
}

void gpu_versions(char *text, size_t size) {
    int built, driver;
    char driver_text[48] = "no driver";
    cuda_versions(&built, &driver);
    if (driver > 0)
        snprintf(driver_text, sizeof driver_text, "driver for %d.%d", driver / 1000,
                 driver % 1000 / 10);
    snprintf(text, size, "CUDA %d.%d (%s)", built / 1000, built % 1000 / 10, driver_text);
}

#else

/* There is nothing to start. */
struct gpu {
    char nothing;
};

enum srcfind_status gpu_check(struct error *error) {
    return error_set(error, SRCFIND_ERROR_DEVICE,
                     "this srcfind was built without CUDA and can only use the CPU");
}

struct gpu *gpu_start(int device, int64_t memory) {
    (void)device, (void)memory;
    return calloc(1, sizeof(struct gpu));
}

void gpu_stop(struct gpu *gpu) {
    free(gpu);
}

enum srcfind_status gpu_wait(struct gpu *gpu, struct error *error) {
    (void)gpu;
    return error_set(error, SRCFIND_ERROR_DEVICE, "built without CUDA");
}

bool gpu_is_starting(const struct gpu *gpu) {
    (void)gpu;
    return false;
}

bool gpu_is_usable(struct gpu *gpu) {
    (void)gpu;
    return false;
}

const char *gpu_name(const struct gpu *gpu) {
    (void)gpu;
    return "";
}

enum srcfind_status gpu_detect(struct gpu *gpu, const struct pixel_source *source,
                               const struct detection *detection, int n_threads,
                               struct detection_result *result, struct error *error) {
    (void)source, (void)detection, (void)n_threads, (void)result;
    return gpu_wait(gpu, error);
}

enum srcfind_status gpu_detect_pixels(struct gpu *gpu, const struct device_pixels *pixels,
                                      const struct detection *detection, int n_threads,
                                      struct detection_result *result, struct error *error) {
    (void)pixels, (void)detection, (void)n_threads, (void)result;
    return gpu_wait(gpu, error);
}

void gpu_versions(char *text, size_t size) {
    snprintf(text, size, "built without CUDA");
}

#endif
