/* A device: its streams, events, pinned memory and buffers, and the checks of CUDA's calls.
 *
 * Every checked call goes through cuda_check, which writes the message. An error other than too
 * little memory loses the device: CUDA gives no result after it in this process, so the context is
 * marked lost, and searches go to the CPU or end with an error.
 *
 * cuda_enter makes the device that of the calling thread, and returns the thread's device before;
 * cuda_leave restores it. Programs that use CUDA themselves notice nothing.
 *
 * The limit is 90% of the memory that is free when the device is opened, or what the user allows,
 * divided by the number of finders that share it. Stages after a search (fits, smoothing,
 * gathering) may take the memory of buffers that are no longer read: all but the state, the kept
 * image and its samples. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "common/hook.h"

/* The share of the free memory that may be used; other programs and the driver need some. */
static const double SHARE_OF_FREE = 0.9;

/* --- errors --- */

enum srcfind_status cuda_check(struct cuda *cuda, cudaError_t code, const char *doing,
                               struct error *error) {
    if (atomic_fetch_add(&cuda->calls, 1) + 1 == cuda->failing_call)
        code = cudaErrorLaunchFailure;
    if (code == cudaSuccess)
        return SRCFIND_OK;
    if (code != cudaErrorMemoryAllocation)
        atomic_store(&cuda->lost, true);
    cudaGetLastError(); /* clears the error */
    return error_set(error, SRCFIND_ERROR_DEVICE,
                     "CUDA device %d%s%s%s: %s while %s; --cpu works without it", cuda->device,
                     *cuda->name ? " (" : "", cuda->name, *cuda->name ? ")" : "",
                     cudaGetErrorString(code), doing);
}

cudaError_t cuda_fetch(const struct cuda *cuda, void *to, const void *from, size_t size) {
    const cudaError_t code = cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, cuda->stream);
    return code ? code : cudaStreamSynchronize(cuda->stream);
}

/* --- the calling thread's device --- */

int cuda_enter(const struct cuda *cuda) {
    int device = cuda->device;
    cudaGetDevice(&device);
    cudaSetDevice(cuda->device);
    cudaGetLastError(); /* clears the caller's own errors */
    return device;
}

void cuda_leave(int device) {
    cudaSetDevice(device);
}

/* --- memory --- */

void cuda_release(struct cuda *cuda, enum buffer_kind kind) {
    struct buffer *b = &cuda->buffers[kind];
    cudaFree(b->memory);
    cuda->used -= b->size;
    *b = (struct buffer){0};
}

enum srcfind_status cuda_reserve(struct cuda *cuda, enum buffer_kind kind, int64_t size,
                                 struct error *error) {
    struct buffer *b = &cuda->buffers[kind];
    if (b->size >= size)
        return SRCFIND_OK;
    cuda_release(cuda, kind);
    const enum srcfind_status status =
        cuda_check(cuda, cudaMalloc(&b->memory, (size_t)size), "asking for memory", error);
    if (status != SRCFIND_OK)
        return status;
    b->size = size;
    cuda->used += size;
    /* The host copies the state with its padding bytes, which must be initialized. */
    return kind == BUFFER_STATE
               ? cuda_check(cuda, cudaMemset(b->memory, 0, (size_t)size), "clearing memory", error)
               : SRCFIND_OK;
}

/* Whether the image is in a buffer that must stay. */
static bool is_kept(const struct cuda *cuda, enum buffer_kind kind, enum buffer_kind growing) {
    const bool has_image =
        cuda->image.pixels && cuda->image.pixels == cuda->buffers[BUFFER_IMAGE].memory;
    const bool has_samples =
        cuda->kept.pixels && cuda->kept.pixels == cuda->buffers[BUFFER_SAMPLES].memory;
    return kind == BUFFER_STATE || kind == growing || (kind == BUFFER_IMAGE && has_image) ||
           (kind == BUFFER_SAMPLES && has_samples);
}

int64_t cuda_memory_after_search(const struct cuda *cuda, enum buffer_kind growing) {
    int64_t size = cuda->limit;
    for (int kind = 0; kind < BUFFERS; kind++)
        if ((enum buffer_kind)kind != growing && is_kept(cuda, (enum buffer_kind)kind, growing))
            size -= cuda->buffers[kind].size;
    return size;
}

enum srcfind_status cuda_reserve_after_search(struct cuda *cuda, enum buffer_kind growing,
                                              int64_t size, struct error *error) {
    if (size > cuda_memory_after_search(cuda, growing))
        return error_set(error, SRCFIND_ERROR_DEVICE,
                         "CUDA device %d (%s): too little memory to measure sources there; --cpu "
                         "works without it",
                         cuda->device, cuda->name);
    const int64_t more = size - cuda->buffers[growing].size;
    for (int kind = 0; kind < BUFFERS && cuda->used + more > cuda->limit; kind++)
        if (!is_kept(cuda, (enum buffer_kind)kind, growing))
            cuda_release(cuda, (enum buffer_kind)kind);
    return cuda_reserve(cuda, growing, size, error);
}

/* --- opening and closing --- */

static cudaError_t open_uploader(struct uploader *uploader) {
    cudaError_t code = cudaStreamCreateWithFlags(&uploader->stream, cudaStreamNonBlocking);
    for (int i = 0; !code && i < SLOTS; i++)
        code = cudaEventCreateWithFlags(&uploader->copied[i], cudaEventDisableTiming);
    return code;
}

static cudaError_t open_all(struct cuda *cuda, int64_t memory, int n_sharing) {
    size_t free_bytes = 0, all;
    struct cudaDeviceProp properties;
    cudaError_t code = cudaSetDevice(cuda->device);
    if (!code)
        code = cudaGetDeviceProperties(&properties, cuda->device);
    if (!code) {
        snprintf(cuda->name, sizeof cuda->name, "%.60s", properties.name);
        code = cudaMemGetInfo(&free_bytes, &all);
    }
    cuda->limit = (int64_t)(SHARE_OF_FREE * (double)free_bytes);
    if (memory > 0 && memory < cuda->limit)
        cuda->limit = memory;
    cuda->limit /= n_sharing;
    if (!code)
        code = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
    for (int i = 0; !code && i < MARKS; i++)
        code = cudaEventCreate(&cuda->mark[i]);
    if (!code)
        code = cudaEventCreateWithFlags(&cuda->before, cudaEventDisableTiming);
    for (int i = 0; !code && i < cuda->n_uploaders; i++)
        code = open_uploader(&cuda->uploaders[i]);
    if (!code)
        code = open_uploader(&cuda->beside);
    cuda->pinned_pixels = (int64_t)SLOTS * SLOT_PIXELS * cuda->n_uploaders;
    if (cuda->pinned_pixels < SLOTS * LONGEST_SLOT)
        cuda->pinned_pixels = SLOTS * LONGEST_SLOT;
    if (!code)
        code = cudaMallocHost((void **)&cuda->pinned,
                              (size_t)cuda->pinned_pixels * sizeof *cuda->pinned);
    return code ? code : cudaMallocHost((void **)&cuda->state, sizeof *cuda->state);
}

enum srcfind_status cuda_open(int device, int64_t memory, int n_sharing, int n_uploaders,
                              struct cuda **result, struct error *error) {
    const char *failing = hook("SRCFIND_FAILING_CUDA_CALL");
    struct cuda *cuda = *result = calloc(1, sizeof *cuda);
    if (!cuda)
        return error_memory(error, "starting CUDA");
    cuda->device = device;
    cuda->keeps_images = true;
    cuda->n_uploaders = n_uploaders < UPLOADERS ? n_uploaders : UPLOADERS;
    enum srcfind_status status =
        cuda_check(cuda, open_all(cuda, memory, n_sharing), "starting", error);
    cuda->failing_call = failing ? atoi(failing) : 0;
    cuda->calls = 0;
    if (status != SRCFIND_OK) {
        cuda_close(cuda);
        *result = NULL;
    }
    return status;
}

static void close_uploader(struct uploader *uploader) {
    for (int i = 0; i < SLOTS; i++)
        if (uploader->copied[i])
            cudaEventDestroy(uploader->copied[i]);
    if (uploader->stream)
        cudaStreamDestroy(uploader->stream);
}

void cuda_close(struct cuda *cuda) {
    if (!cuda)
        return;
    const int callers_device = cuda_enter(cuda);
    if (cuda->recording.graph)
        cudaGraphExecDestroy(cuda->recording.graph);
    for (int i = 0; i < cuda->n_uploaders; i++)
        close_uploader(&cuda->uploaders[i]);
    close_uploader(&cuda->beside);
    for (int i = 0; i < BUFFERS; i++)
        cuda_release(cuda, i);
    for (int i = 0; i < MARKS; i++)
        if (cuda->mark[i])
            cudaEventDestroy(cuda->mark[i]);
    if (cuda->before)
        cudaEventDestroy(cuda->before);
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    cudaFreeHost(cuda->pinned);
    cudaFreeHost(cuda->state);
    cuda_leave(callers_device);
    free(cuda);
}

/* --- properties --- */

bool cuda_is_lost(const struct cuda *cuda) {
    return cuda->lost;
}

int64_t cuda_memory(const struct cuda *cuda) {
    return cuda->limit;
}

void cuda_limit_memory(struct cuda *cuda, int64_t memory) {
    cuda->limit = memory < cuda->limit ? memory : cuda->limit;
}

const char *cuda_name(const struct cuda *cuda) {
    return cuda->name;
}

int cuda_count(struct error *error) {
    int n = 0, built, driver;
    const cudaError_t code = cudaGetDeviceCount(&n);
    cuda_versions(&built, &driver);
    if (driver == 0)
        error_set(error, SRCFIND_ERROR_DEVICE, "no CUDA driver is installed");
    else if (code)
        error_set(error, SRCFIND_ERROR_DEVICE, "%s", cudaGetErrorString(code));
    else if (n == 0)
        error_set(error, SRCFIND_ERROR_DEVICE, "no CUDA-capable device is detected");
    cudaGetLastError();
    return code ? 0 : n;
}

void cuda_versions(int *built, int *driver) {
    *built = CUDART_VERSION;
    if (cudaDriverGetVersion(driver))
        *driver = 0;
}
