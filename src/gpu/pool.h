/* The GPUs of one finder, or of several that work at the same time: a pool of contexts (opened
 * devices), of which each search takes one. The first context is opened in a separate thread, which
 * takes some tenths of a second; others are opened when all are taken. Several threads may call
 * these functions. */
#ifndef POOL_H
#define POOL_H

#include "gpu/choice.h"
#include "gpu/gpu_backend.h"

struct gpu;

enum context_state { CONTEXT_CLOSED, CONTEXT_FREE, CONTEXT_TAKEN, CONTEXT_LOST };

/* An opened device, and the functions that use it. The other members are the pool's own. */
struct gpu_context {
    const struct gpu_backend *backend;
    struct cuda *cuda;
    int device;
    enum context_state state;
};

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

/* Tells how many images a run has, before the first one is searched. */
void gpu_expect(struct gpu *gpu, double n_images);

/* Chooses where an image is searched that may be searched on either backend, by a finder with so
 * many threads. */
enum backend_choice gpu_choose(struct gpu *gpu, const struct search_work *work, int own_threads);

/* Adds such a search on the CPU when it has ended. */
void gpu_add_search(struct gpu *gpu, const struct search_work *work, double seconds,
                    int own_threads);

/* Adds an image of the host when all its searches have ended, also where they failed. */
void gpu_end_image(struct gpu *gpu, double n_pixels);

/* True while the first context is being opened: the caller can do other work meanwhile. */
bool gpu_is_starting(struct gpu *gpu);

/* Starts a device if needed and waits for it. True if a context can be used. */
bool gpu_is_usable(struct gpu *gpu);

enum gpu_wait {
    GPU_IF_FREE,    /* do not wait: *context is NULL if none is free, or a device is still being
                       started, which is not an error */
    GPU_WAIT,       /* wait until a context is free */
    GPU_WAIT_FIRST, /* wait until a context of the first device is free */
};

/* Takes a context, which the caller alone may use until gpu_give. Starts a device if needed. */
enum srcfind_status gpu_take(struct gpu *gpu, enum gpu_wait wait, struct gpu_context **context,
                             struct error *error);
void gpu_give(struct gpu *gpu, struct gpu_context *context);

/* Writes the versions of CUDA and the driver, one line, for srcfind_versions. */
void gpu_versions(char *text, size_t size);

#endif
