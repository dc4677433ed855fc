/* The door to the CUDA backend: the same islands as cpu_detect's, bit for bit, from a GPU. It is a
 * module of its own, loaded when a device is first used (gpu_module.h): kernels and the CUDA
 * runtime take a millisecond to load, which those who use the CPU need not wait for. */
#ifndef CUDA_BACKEND_H
#define CUDA_BACKEND_H

#include "backend/backend.h"

/* A device made ready: its context, streams, buffers. One thread at a time may use it. */
struct cuda;

/* Makes a device ready, which takes a quarter of a second, or less where the process has it ready
 * already. Of `memory` bytes of its memory, or nearly all that is free where memory is 0 or more
 * than that, an n_sharing-th is used at most. Up to n_feeders threads (there is a limit) will bring
 * pixels to it. *cuda is to be closed, and NULL on an error. */
enum srcfind_status cuda_open(int device, int64_t memory, int n_sharing, int n_feeders,
                              struct cuda **cuda, struct error *error);

/* cuda may be NULL. */
void cuda_close(struct cuda *cuda);

/* Bytes of the device's memory that it may use. */
int64_t cuda_memory(const struct cuda *cuda);

/* What the maker calls the device. */
const char *cuda_name(const struct cuda *cuda);

/* Whether an error has left the device unusable. */
bool cuda_is_lost(const struct cuda *cuda);

/* How many devices there are; 0 with the reason in error. */
int cuda_count(struct error *error);

/* The version of CUDA that this was built with, and of the driver (0: none): 1000 major + 10 minor.
 */
void cuda_versions(int *built, int *driver);

/* Finds the islands of an image. n_threads threads read it. An error of the device is
 * SRCFIND_ERROR_DEVICE; those of the source are passed on. */
enum srcfind_status cuda_detect(struct cuda *cuda, const struct pixel_source *source,
                                const struct detection *detection, int n_threads,
                                struct detection_result *result, struct error *error);

/* The same for pixels that are in the device's memory already. */
enum srcfind_status cuda_detect_pixels(struct cuda *cuda, const struct device_pixels *pixels,
                                       const struct detection *detection, int n_threads,
                                       struct detection_result *result, struct error *error);

/* What was measured in one round, in seconds: a plain read of an image in the device's memory, a
 * copy of as many bytes from pinned memory of the host, and a search of the image there. */
struct cuda_round {
    double read, copy;
    struct srcfind_timings search;
};

/* Brings an image to the device and measures n rounds, after some to warm up. */
enum srcfind_status cuda_bench(struct cuda *cuda, const struct pixel_source *source,
                               const struct detection *detection, int n_threads, int n,
                               struct cuda_round *rounds, struct error *error);

/* All of that as the module shows it. */
#define CUDA_FUNCTIONS(f)                                                                          \
    f(open) f(close) f(memory) f(name) f(is_lost) f(count) f(versions) f(detect) f(detect_pixels)  \
        f(bench)

struct cuda_backend {
    const char *version; /* of srcfind: that of the library and of its module are the same */
#define CUDA_MEMBER(function) __typeof__(cuda_##function) *function;
    CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/* The one name that the module has. */
SRCFIND_API extern const struct cuda_backend srcfind_cuda;

#endif
