/* The GPUs of one finder, or of several that work at the same time: a pool of contexts (opened
 * devices), of which each search takes one. The first context is opened in a separate thread, which
 * takes some tenths of a second; others are opened when all are taken. Several threads may call
 * these functions. */
#ifndef POOL_H
#define POOL_H

#include "gpu/gpu_backend.h"

struct gpu;
struct gpu_context;

/* Checks that the CUDA module can be loaded and a driver is installed, without starting a device.
 */
enum srcfind_status gpu_check(struct error *error);

/* Makes a pool for n_finders, which have n_threads CPU threads in all. Device and memory are those
 * of struct options. Opens no device. To be released; NULL where memory ran out. */
struct gpu *gpu_create(int device, int64_t memory, int n_finders, int n_threads);

/* Adds a reference to the pool. Each reference is to be released. gpu may be NULL. */
struct gpu *gpu_share(struct gpu *gpu);
void gpu_release(struct gpu *gpu);

/* Begins to open the first context in a separate thread, unless that has begun already. */
void gpu_start(struct gpu *gpu);

/* Adds an image that may be searched on either backend. Returns true if all these images together
 * have so many pixels for each CPU thread that starting a GPU is worth its time. */
bool gpu_is_worth_it(struct gpu *gpu, double n_pixels);

/* True while the first context is being opened: the caller can do other work meanwhile. */
bool gpu_is_starting(struct gpu *gpu);

/* Starts a device if needed and waits for it. True if a context can be used. */
bool gpu_is_usable(struct gpu *gpu);

enum gpu_wait {
    GPU_IF_FREE,    /* do not wait: *context is NULL if none is free, which is not an error */
    GPU_WAIT,       /* wait until a context is free */
    GPU_WAIT_FIRST, /* wait until a context of the first device is free */
};

/* Takes a context, which the caller alone may use until gpu_give. Starts a device if needed, and
 * waits until it is ready. */
enum srcfind_status gpu_take(struct gpu *gpu, enum gpu_wait wait, struct gpu_context **context,
                             struct error *error);
void gpu_give(struct gpu *gpu, struct gpu_context *context);

/* The manufacturer's name of the device. */
const char *gpu_name(const struct gpu *gpu, const struct gpu_context *context);

/* As cuda_detect and cuda_detect_pixels. */
enum srcfind_status gpu_detect(struct gpu *gpu, struct gpu_context *context,
                               const struct pixel_source *source, const struct detection *detection,
                               struct threads *threads, struct detection_result *result,
                               struct error *error);
enum srcfind_status gpu_detect_pixels(struct gpu *gpu, struct gpu_context *context,
                                      const struct device_pixels *pixels,
                                      const struct detection *detection, struct threads *threads,
                                      struct detection_result *result, struct error *error);

/* As cuda_gather and cuda_fit, for the search that the context was taken for. */
enum srcfind_status gpu_gather(struct gpu *gpu, struct gpu_context *context,
                               const struct placed_runs *runs, struct threads *threads,
                               float *values, struct error *error);
enum srcfind_status gpu_fit(struct gpu *gpu, struct gpu_context *context,
                            const struct fit_frame *frame, const struct fit_pixel *pixels,
                            struct fit_job *jobs, int64_t n, struct threads *threads,
                            struct error *error);

/* As cuda_bench. */
enum srcfind_status gpu_bench(struct gpu *gpu, struct gpu_context *context,
                              const struct pixel_source *source, const struct detection *detection,
                              struct threads *threads, int n, struct cuda_round *rounds,
                              struct error *error);

/* Writes the versions of CUDA and the driver, one line, for srcfind_versions. */
void gpu_versions(char *text, size_t size);

#endif
