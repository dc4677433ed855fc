/* The GPUs of one finder, or of several that work at the same time: a pool of devices made ready
 * (contexts), of which each search takes one. The first is made ready in a thread of its own, which
 * takes some tenths of a second; further ones when all are taken. Calls may come from several
 * threads.
 */
#ifndef GPU_H
#define GPU_H

#include "gpu/gpu_backend.h"

struct gpu;
struct gpu_context;

/* Whether a device can be asked for at all; says at once what would be found out later. */
enum srcfind_status gpu_check(struct error *error);

/* A pool for n_finders, with n_threads of the CPU in all. Device and memory are those of struct
 * srcfind_options. Starts nothing. NULL where memory ran out. */
struct gpu *gpu_create(int device, int64_t memory, int n_finders, int n_threads);

/* A pool that was shared is to be released as often again. gpu may be NULL. */
struct gpu *gpu_share(struct gpu *gpu);
void gpu_release(struct gpu *gpu);

/* Begins to make a device ready, if nobody has yet. */
void gpu_start(struct gpu *gpu);

/* The same where that is worth it for so many pixels. */
void gpu_expect(struct gpu *gpu, double n_pixels);

/* Counts an image that may be searched anywhere, and starts a device if it would have been worth it
 * for all images so far. Returns NULL where a GPU is expected to be sooner; else why it is not. */
const char *gpu_declines(struct gpu *gpu, double n_pixels, int n_threads);

/* Whether the device is being made ready, so that there is time to be used. */
bool gpu_is_starting(struct gpu *gpu);

/* Whether there is a device, after having waited for it, that no error has left unusable. */
bool gpu_is_usable(struct gpu *gpu);

enum gpu_wait {
    GPU_IF_FREE,    /* *context is NULL where none is free, which is no error */
    GPU_WAIT,       /* until one is */
    GPU_WAIT_FIRST, /* until one of the first device is */
};

/* Takes a context, of which the caller alone has the use until it gives it back. Starts a device if
 * need be, and waits until it is ready. */
enum srcfind_status gpu_take(struct gpu *gpu, enum gpu_wait wait, struct gpu_context **context,
                             struct error *error);
void gpu_give(struct gpu *gpu, struct gpu_context *context);

/* What the maker calls the device. */
const char *gpu_name(const struct gpu *gpu, const struct gpu_context *context);

/* cuda_detect and cuda_detect_pixels. */
enum srcfind_status gpu_detect(struct gpu *gpu, struct gpu_context *context,
                               const struct pixel_source *source, const struct detection *detection,
                               int n_threads, struct detection_result *result, struct error *error);
enum srcfind_status gpu_detect_pixels(struct gpu *gpu, struct gpu_context *context,
                                      const struct device_pixels *pixels,
                                      const struct detection *detection, int n_threads,
                                      struct detection_result *result, struct error *error);

/* cuda_bench. */
enum srcfind_status gpu_bench(struct gpu *gpu, struct gpu_context *context,
                              const struct pixel_source *source, const struct detection *detection,
                              int n_threads, int n, struct cuda_round *rounds, struct error *error);

/* One line on CUDA for srcfind_versions. */
void gpu_versions(char *text, size_t size);

#endif
