/* The GPU of a finder, which is made ready in a thread of its own: that takes a quarter of a
 * second, in which files can be opened. Without CUDA, each call says so. */
#ifndef GPU_H
#define GPU_H

#include "backend.h"

struct gpu;

/* Whether a device can be asked for at all; says at once what would be found out later. */
enum srcfind_status gpu_check(struct error *error);

/* Begins to make a device ready (see cuda_open). NULL where memory ran out. */
struct gpu *gpu_start(int device, int64_t memory);

/* gpu may be NULL. */
void gpu_stop(struct gpu *gpu);

/* Waits until the device is ready. An error says why it is not, each time that it is asked for. */
enum srcfind_status gpu_wait(struct gpu *gpu, struct error *error);

/* Whether the device is being made ready, so that there is time to be used. */
bool gpu_is_starting(const struct gpu *gpu);

/* Whether the device is ready, after having waited for it, and no error has left it unusable. */
bool gpu_is_usable(struct gpu *gpu);

/* The name of a device that is ready. */
const char *gpu_name(const struct gpu *gpu);

/* cuda_detect and cuda_detect_pixels, for a device that is ready. */
enum srcfind_status gpu_detect(struct gpu *gpu, const struct pixel_source *source,
                               const struct detection *detection, int n_threads,
                               struct detection_result *result, struct error *error);
enum srcfind_status gpu_detect_pixels(struct gpu *gpu, const struct device_pixels *pixels,
                                      const struct detection *detection, int n_threads,
                                      struct detection_result *result, struct error *error);

/* One line on CUDA for srcfind_versions. */
void gpu_versions(char *text, size_t size);

#endif
