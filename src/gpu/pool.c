/* How finders share devices.
 *
 * 1. gpu_start, or the first gpu_take, starts a thread that loads the backend, counts devices, and
 *    opens the first context; this takes half a second, in which other threads search on the CPU.
 * 2. There are at most 8 contexts a device, or 32 where each has a GiB, in turn on all devices. A
 *    context is opened when it is first taken, with the memory limit of the others of its device.
 * 3. gpu_take waits for a context, or returns without one if the caller may use the CPU; gpu_give
 *    returns it. A context whose device failed is lost, and never taken again.
 * 4. gpu_choose estimates whether CPU or device is sooner (choice.c), from the searches that ended
 *    so far.
 *
 * Always: the lock protects states and the choice, and is free while a context is opened. Signals
 * are blocked while the driver makes its threads, which would otherwise take the program's signals.
 *
 * Cost: nothing until a device is wanted. */
#include "gpu/pool.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>

#include "common/clock.h"
#include "common/hook.h"
#include "common/parse_number.h"
#include "gpu/module.h"
#include "options/options.h"

/* Contexts of a device: a search needs the device for a small part of its time, and the host for
 * the rest, so that each of 16 threads ends more searches with a context of its own. But images
 * that do not fit in the memory of a context are read several times. */
enum { CONTEXTS_A_DEVICE = 8, MOST_CONTEXTS_A_DEVICE = 32, BYTES_A_CONTEXT = 1 << 30 };

enum gpu_state { GPU_IDLE, GPU_STARTING, GPU_STARTED };

struct gpu {
    int device; /* or DEVICE_AUTO, or _ALL */
    int64_t memory;
    int n_finders, n_threads;
    const struct gpu_backend *backend; /* from here to n_contexts: set when it has started */
    enum srcfind_status status;        /* of the start */
    int n_devices;
    int n_contexts; /* at most n_finders; opened when needed */
    atomic_int n_shares;
    mtx_t lock; /* protects all that follows */
    cnd_t changed;
    enum gpu_state state;
    thrd_t thread;
    bool has_thread;
    struct choice choice;
    double started;     /* when the start of a device began */
    struct error error; /* why a context cannot be used */
    struct gpu_context contexts[];
};

/* --- starting --- */

/* The memory limit of the contexts that are open on a device, in bytes; 0 if there are none. All
 * contexts of a device get the same limit. */
static int64_t memory_of_device(const struct gpu *gpu, int device) {
    for (int i = 0; i < gpu->n_contexts; i++)
        if (gpu->contexts[i].cuda && gpu->contexts[i].device == device)
            return gpu->backend->memory(gpu->contexts[i].cuda);
    return 0;
}

/* Signals belong to the calling program. The CUDA driver makes threads that live as long as the
 * process, and inherit the signal mask: block all signals while they are made. */
static sigset_t block_signals(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

static void restore_signals(const sigset_t *before) {
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* The most of n contexts that share a device. */
static int count_sharing(const struct gpu *gpu, int n) {
    return (n + gpu->n_devices - 1) / gpu->n_devices;
}

/* memory: the limit of the device's other contexts, or 0 for the first one. */
static enum srcfind_status open_context(const struct gpu *gpu, const struct gpu_context *context,
                                        int64_t memory, struct cuda **cuda, struct error *error) {
    const int uploaders = gpu->n_threads / gpu->n_finders + (gpu->n_threads % gpu->n_finders > 0);
    const int sharing = count_sharing(gpu, gpu->n_contexts);
    const sigset_t before = block_signals();
    const enum srcfind_status status =
        memory > 0
            ? gpu->backend->open(context->device, memory, 1, uploaders, cuda, error)
            : gpu->backend->open(context->device, gpu->memory, sharing, uploaders, cuda, error);
    restore_signals(&before);
    return status;
}

/* The number of contexts, with so many a device. */
static int count_contexts(const struct gpu *gpu, int a_device) {
    return gpu->n_finders < gpu->n_devices * a_device ? gpu->n_finders : gpu->n_devices * a_device;
}

/* Loads the backend, counts the devices to use, and divides the contexts among them. */
static enum srcfind_status find_devices(struct gpu *gpu, struct error *error) {
    const int first = gpu->device >= 0 ? gpu->device : 0;
    gpu->backend = gpu_module_load(error);
    const int n = gpu->backend ? gpu->backend->count(error) : 0;
    if (n == 0)
        return SRCFIND_ERROR_DEVICE;
    if (first >= n)
        return error_set(error, SRCFIND_ERROR_DEVICE,
                         "there is no CUDA device %d: they are counted from 0, and there %s %d",
                         first, n == 1 ? "is" : "are", n);
    gpu->n_devices = gpu->device == DEVICE_ALL ? n : 1;
    gpu->n_contexts = count_contexts(gpu, CONTEXTS_A_DEVICE);
    for (int i = 0; i < gpu->n_finders; i++) {
        gpu->contexts[i].backend = gpu->backend;
        gpu->contexts[i].device = first + i % gpu->n_devices;
    }
    return SRCFIND_OK;
}

/* Adds contexts, if the memory of the first one, of the first device, is enough for several; other
 * devices are taken to be as large. */
static void add_contexts(struct gpu *gpu, struct cuda *cuda) {
    const int64_t all = gpu->backend->memory(cuda) * count_sharing(gpu, gpu->n_contexts);
    const int n = count_contexts(gpu, MOST_CONTEXTS_A_DEVICE);
    const int64_t memory = all / count_sharing(gpu, n);
    if (n == gpu->n_contexts || memory < BYTES_A_CONTEXT)
        return;
    gpu->backend->limit_memory(cuda, memory);
    gpu->n_contexts = n;
}

/* Opens the first context. */
static int start(void *argument) {
    struct gpu *gpu = argument;
    struct cuda *cuda = NULL;
    struct error error;
    enum srcfind_status status = find_devices(gpu, &error);
    if (status == SRCFIND_OK)
        status = open_context(gpu, &gpu->contexts[0], 0, &cuda, &error);
    if (status == SRCFIND_OK)
        add_contexts(gpu, cuda);
    mtx_lock(&gpu->lock);
    gpu->state = GPU_STARTED;
    gpu->status = status;
    gpu->contexts[0].cuda = cuda;
    gpu->contexts[0].state = CONTEXT_FREE;
    if (status != SRCFIND_OK)
        gpu->error = error;
    cnd_broadcast(&gpu->changed);
    mtx_unlock(&gpu->lock);
    return 0;
}

/* To be called with the lock, which is unlocked in between if no thread can be made. */
static void start_locked(struct gpu *gpu) {
    if (gpu->state != GPU_IDLE)
        return;
    gpu->state = GPU_STARTING;
    gpu->started = clock_seconds();
    const sigset_t before = block_signals();
    gpu->has_thread = thrd_create(&gpu->thread, start, gpu) == thrd_success;
    if (!gpu->has_thread) {
        mtx_unlock(&gpu->lock);
        start(gpu);
        mtx_lock(&gpu->lock);
    }
    restore_signals(&before);
}

void gpu_start(struct gpu *gpu) {
    mtx_lock(&gpu->lock);
    start_locked(gpu);
    mtx_unlock(&gpu->lock);
}

enum srcfind_status gpu_check(struct error *error) {
    int built, driver = 0;
    struct error reason;
    const struct gpu_backend *backend = gpu_module_load(&reason);
    if (backend)
        backend->versions(&built, &driver);
    if (driver > 0)
        return SRCFIND_OK;
    if (!backend && gpu_module_exists()) {
        *error = reason;
        return SRCFIND_ERROR_DEVICE;
    }
    return error_set(error, SRCFIND_ERROR_DEVICE, "%s, so only the CPU can be used (--cpu)",
                     backend ? "no CUDA driver is installed" : "built without CUDA");
}

/* --- the pool --- */

struct gpu *gpu_create(int device, int64_t memory, int n_finders, int n_threads) {
    struct gpu *gpu = calloc(1, sizeof *gpu + (size_t)n_finders * sizeof *gpu->contexts);
    if (!gpu)
        return NULL;
    gpu->device = device;
    gpu->memory = memory;
    gpu->n_finders = n_finders;
    gpu->n_threads = n_threads;
    gpu->n_shares = 1;
    const bool has_lock = mtx_init(&gpu->lock, mtx_plain) == thrd_success;
    if (has_lock && cnd_init(&gpu->changed) == thrd_success)
        return gpu;
    if (has_lock)
        mtx_destroy(&gpu->lock);
    free(gpu);
    return NULL;
}

struct gpu *gpu_share(struct gpu *gpu) {
    if (gpu)
        atomic_fetch_add(&gpu->n_shares, 1);
    return gpu;
}

void gpu_release(struct gpu *gpu) {
    if (!gpu || atomic_fetch_sub(&gpu->n_shares, 1) > 1)
        return;
    if (gpu->has_thread)
        thrd_join(gpu->thread, NULL);
    for (int i = 0; i < gpu->n_contexts; i++)
        if (gpu->contexts[i].cuda)
            gpu->backend->close(gpu->contexts[i].cuda);
    cnd_destroy(&gpu->changed);
    mtx_destroy(&gpu->lock);
    free(gpu);
}

/* The first context in a state, on any device or only on the first device; NULL: there is none. */
static struct gpu_context *find_context(struct gpu *gpu, enum context_state state,
                                        bool first_device) {
    for (int i = 0; i < gpu->n_contexts; i++)
        if (gpu->contexts[i].state == state && !(first_device && i % gpu->n_devices))
            return &gpu->contexts[i];
    return NULL;
}

/* Opens a context that the caller has taken, without the lock. On an error the context is lost. */
static bool open_taken(struct gpu *gpu, struct gpu_context *context) {
    struct error error;
    const int64_t memory = memory_of_device(gpu, context->device);
    struct cuda *cuda = NULL;
    mtx_unlock(&gpu->lock);
    const enum srcfind_status status = open_context(gpu, context, memory, &cuda, &error);
    mtx_lock(&gpu->lock);
    context->cuda = cuda;
    if (status == SRCFIND_OK)
        return true;
    context->state = CONTEXT_LOST;
    gpu->error = error;
    cnd_broadcast(&gpu->changed); /* threads that wait for a context check that any is left */
    return false;
}

/* Takes a free context, or opens one; NULL if all are taken or lost. */
static struct gpu_context *take_context(struct gpu *gpu, bool first_device) {
    for (;;) {
        struct gpu_context *context = find_context(gpu, CONTEXT_FREE, first_device);
        if (context) {
            context->state = CONTEXT_TAKEN;
            return context;
        }
        context = find_context(gpu, CONTEXT_CLOSED, first_device);
        if (!context)
            return NULL;
        context->state = CONTEXT_TAKEN;
        if (open_taken(gpu, context))
            return context;
    }
}

static void wait_for_start(struct gpu *gpu) {
    start_locked(gpu);
    while (gpu->state != GPU_STARTED)
        cnd_wait(&gpu->changed, &gpu->lock);
}

/* True if a context is usable now or later. */
static bool has_any(struct gpu *gpu, bool first_device) {
    return find_context(gpu, CONTEXT_FREE, first_device) ||
           find_context(gpu, CONTEXT_CLOSED, first_device) ||
           find_context(gpu, CONTEXT_TAKEN, first_device);
}

enum srcfind_status gpu_take(struct gpu *gpu, enum gpu_wait wait, struct gpu_context **context,
                             struct error *error) {
    const bool first_device = wait == GPU_WAIT_FIRST;
    *context = NULL;
    mtx_lock(&gpu->lock);
    if (wait == GPU_IF_FREE) {
        start_locked(gpu);
        if (gpu->state != GPU_STARTED) {
            mtx_unlock(&gpu->lock);
            return SRCFIND_OK;
        }
    }
    wait_for_start(gpu);
    enum srcfind_status status = gpu->status;
    while (status == SRCFIND_OK && !(*context = take_context(gpu, first_device))) {
        if (!has_any(gpu, first_device))
            status = SRCFIND_ERROR_DEVICE;
        else if (wait == GPU_IF_FREE)
            break;
        else
            cnd_wait(&gpu->changed, &gpu->lock);
    }
    if (status != SRCFIND_OK)
        *error = gpu->error;
    mtx_unlock(&gpu->lock);
    return status;
}

void gpu_give(struct gpu *gpu, struct gpu_context *context) {
    const bool lost = gpu->backend->is_lost(context->cuda);
    mtx_lock(&gpu->lock);
    context->state = lost ? CONTEXT_LOST : CONTEXT_FREE;
    if (lost)
        error_set(&gpu->error, SRCFIND_ERROR_DEVICE,
                  "CUDA device %d (%s): lost in an earlier search; --cpu works without it",
                  context->device, gpu->backend->name(context->cuda));
    cnd_broadcast(&gpu->changed);
    mtx_unlock(&gpu->lock);
}

/* --- the choice of a backend --- */

static const double START = 0.5; /* seconds that a device takes to start, until it has */

static double seconds_to_start(const struct gpu *gpu) {
    const double since = gpu->state == GPU_STARTING ? clock_seconds() - gpu->started : 0;
    return gpu->state == GPU_STARTED ? 0 : fmax(START - since, 0);
}

void gpu_expect(struct gpu *gpu, double n_images) {
    mtx_lock(&gpu->lock);
    gpu->choice.expected += n_images;
    mtx_unlock(&gpu->lock);
}

/* The choice in tests, which must not depend on speed: once `before` pixels were searched, a free
 * device is used, and its start is waited for. To be called with the lock. */
static enum backend_choice choose_for_test(struct gpu *gpu, double n_pixels, double before) {
    if (gpu->choice.finished + n_pixels <= before)
        return CHOOSE_CPU;
    wait_for_start(gpu);
    return CHOOSE_GPU_IF_FREE;
}

enum backend_choice gpu_choose(struct gpu *gpu, const struct search_work *work, int own_threads) {
    const char *before = hook("SRCFIND_PIXELS_BEFORE_GPU");
    mtx_lock(&gpu->lock);
    const enum backend_choice choice =
        before
            ? choose_for_test(gpu, work->n_pixels, parse_in_c_locale(before, NULL))
            : choice_make(&gpu->choice, work, gpu->n_threads, own_threads, seconds_to_start(gpu));
    mtx_unlock(&gpu->lock);
    return choice;
}

void gpu_add_search(struct gpu *gpu, const struct search_work *work, double seconds,
                    int own_threads) {
    mtx_lock(&gpu->lock);
    choice_add(&gpu->choice, work, seconds, own_threads);
    mtx_unlock(&gpu->lock);
}

void gpu_end_image(struct gpu *gpu, double n_pixels) {
    mtx_lock(&gpu->lock);
    choice_end_image(&gpu->choice, n_pixels);
    mtx_unlock(&gpu->lock);
}

bool gpu_is_starting(struct gpu *gpu) {
    mtx_lock(&gpu->lock);
    const bool starting = gpu->state == GPU_STARTING;
    mtx_unlock(&gpu->lock);
    return starting;
}

bool gpu_is_usable(struct gpu *gpu) {
    mtx_lock(&gpu->lock);
    wait_for_start(gpu);
    const bool usable = gpu->status == SRCFIND_OK && has_any(gpu, false);
    mtx_unlock(&gpu->lock);
    return usable;
}

/* --- versions --- */

void gpu_versions(char *text, size_t size) {
    int built, driver;
    char driver_text[48] = "no driver";
    struct error reason;
    const struct gpu_backend *backend = gpu_module_load(&reason);
    if (!backend) {
        snprintf(text, size,
                 gpu_module_exists() ? "CUDA (its module cannot be loaded: " GPU_MODULE_WAY_OUT ")"
                                     : "built without CUDA");
        return;
    }
    backend->versions(&built, &driver);
    if (driver > 0)
        snprintf(driver_text, sizeof driver_text, "driver for %d.%d", driver / 1000,
                 driver % 1000 / 10);
    snprintf(text, size, "CUDA %d.%d (%s)", built / 1000, built % 1000 / 10, driver_text);
}
