/* The calls of the backend that carries out a search: a GPU, or the CPU. */
#ifndef BACKEND_CALLS_H
#define BACKEND_CALLS_H

#include "backend/fit.h"
#include "gpu/pool.h"

struct backend_calls {
    struct gpu_context *context; /* of the GPU; NULL: the CPU */
    struct threads *threads;
    struct error *error;
};

/* So many rms that no pixel is above them. */
static const double NO_THRESHOLD = 1e30;

/* The detection for the noise alone. */
static inline struct detection noise_detection(struct detection detection) {
    detection.threshold = detection.island = NO_THRESHOLD;
    detection.noise_only = true;
    detection.keep_runs = false;
    return detection;
}

/* Gives the device, if there is one, back to its pool: the CPU is then the backend. */
void backend_give(struct backend_calls *calls, struct gpu *gpu);

/* Detects in pixels of the host or, if they are not NULL, of the device. The caller clears the
 * result, also after an error. */
enum srcfind_status backend_detect(const struct backend_calls *calls,
                                   const struct pixel_source *source,
                                   const struct device_pixels *on_device,
                                   const struct detection *detection,
                                   struct detection_result *result);

/* Copies an image of the host to the device. *is_kept is false if there is no device, or it has no
 * room for the image and for smoothing. */
enum srcfind_status backend_keep(const struct backend_calls *calls,
                                 const struct pixel_source *source, bool *is_kept);

/* Gathers pixels of the image that is on the device. It is `gather` of a struct run_source; the
 * calls are its context. */
enum srcfind_status backend_gather(void *calls, const struct gathered_runs *runs, float *values,
                                   struct error *error);

/* Fits on the backend, with the same results on each. For a struct fitter. */
enum srcfind_status backend_fit(void *calls, const struct fit_pixel *pixels, struct fit_job *jobs,
                                int64_t n, struct threads *threads, struct error *error);

#endif
