/* The interface of the CUDA backend, which finds the same islands as cpu_detect, bit for bit. The
 * backend is a separate module, loaded when a device is first used (module.h): loading kernels and
 * the CUDA runtime takes a millisecond, which searches on the CPU should not pay. */
#ifndef GPU_BACKEND_H
#define GPU_BACKEND_H

#include "backend/backend.h"
#include "backend/fit.h"
#include "backend/smoothing.h"

/* An opened device: its context, streams and buffers. One thread at a time may use it. */
struct cuda;

/* Opens a device, which takes a quarter of a second; less if the process has it open already.
 * The device memory to use is `memory` bytes, or nearly all that is free if memory is 0 or larger
 * than that; *cuda uses at most 1 / n_sharing of it. Up to n_uploaders threads (there is a limit)
 * will upload pixels. *cuda is to be closed; it is NULL on an error. */
enum srcfind_status cuda_open(int device, int64_t memory, int n_sharing, int n_uploaders,
                              struct cuda **cuda, struct error *error);

/* cuda may be NULL. */
void cuda_close(struct cuda *cuda);

/* The limit of the device memory that it uses, in bytes. */
int64_t cuda_memory(const struct cuda *cuda);

/* Lowers the limit, before the first search. */
void cuda_limit_memory(struct cuda *cuda, int64_t memory);

/* The manufacturer's name of the device. */
const char *cuda_name(const struct cuda *cuda);

/* True if an error has left the device unusable. */
bool cuda_is_lost(const struct cuda *cuda);

/* The number of devices; if 0, error has the reason. */
int cuda_count(struct error *error);

/* The CUDA version of the build, and that of the driver (0: no driver): 1000 major + 10 minor. */
void cuda_versions(int *built, int *driver);

/* Finds the islands of an image, whose pixels the threads read. Errors of the device are
 * SRCFIND_ERROR_DEVICE; errors of the source are passed on. */
enum srcfind_status cuda_detect(struct cuda *cuda, const struct pixel_source *source,
                                const struct detection *detection, struct threads *threads,
                                struct detection_result *result, struct error *error);

/* Searches pixels in the device's memory. */
enum srcfind_status cuda_detect_pixels(struct cuda *cuda, const struct device_pixels *pixels,
                                       const struct detection *detection, struct threads *threads,
                                       struct detection_result *result, struct error *error);

/* Copies an image to the device, which then has it as after a search of it, if the image and the
 * buffers of a search fit: *is_kept. Else nothing is read. Memory may still be short for
 * cuda_smooth. */
enum srcfind_status cuda_keep(struct cuda *cuda, const struct pixel_source *source,
                              struct threads *threads, bool *is_kept, struct error *error);

/* Copies the values of runs of the image that was searched last, if the device has it
 * (result->is_on_device). */
enum srcfind_status cuda_gather(struct cuda *cuda, const struct gathered_runs *runs,
                                struct threads *threads, float *values, struct error *error);

/* Smooths the image that was searched last, less the model, if the device has it
 * (result->is_on_device): samples, in the device's memory until the next call or image, may be
 * searched by cuda_detect_pixels, after which this may be called again for the same image.
 * *n_samples: how many are not blank. */
enum srcfind_status cuda_smooth(struct cuda *cuda, const struct smoothing *smoothing,
                                const struct smoothing_model *model, int64_t width, int64_t height,
                                struct threads *threads, struct device_pixels *samples,
                                int64_t *n_samples, struct error *error);

/* Carries out fits, as cpu_fit does. After an error the jobs are of no use. */
enum srcfind_status cuda_fit(struct cuda *cuda, const struct fit_pixel *pixels,
                             struct fit_job *jobs, int64_t n, struct threads *threads,
                             struct error *error);

/* The times of one round, in seconds: a plain read of an image in the device's memory, a copy of as
 * many bytes from pinned host memory, and a search of the image in the device's memory. */
struct cuda_round {
    double read, copy;
    struct srcfind_timings search;
};

/* Uploads an image to the device and measures n rounds, after some warm-up rounds. */
enum srcfind_status cuda_bench(struct cuda *cuda, const struct pixel_source *source,
                               const struct detection *detection, struct threads *threads, int n,
                               struct cuda_round *rounds, struct error *error);

/* The functions above, as a table that the module exports. */
#define CUDA_FUNCTIONS(f)                                                                          \
    f(open) f(close) f(memory) f(limit_memory) f(name) f(is_lost) f(count) f(versions) f(detect)   \
        f(detect_pixels) f(keep) f(gather) f(smooth) f(fit) f(bench)

struct gpu_backend {
    const char *version; /* of srcfind; must be that of the library */
#define CUDA_MEMBER(function) __typeof__(cuda_##function) *function;
    CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/* The only symbol that the module exports. */
SRCFIND_API extern const struct gpu_backend srcfind_cuda;

#endif
