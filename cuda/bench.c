/* Measures a device: what it takes at least to read and to copy an image, and what a search takes.
 */
#include <stdlib.h>
#include <string.h>

#include "upload.h"

enum {
    WARM_UP = 3, /* rounds: the third search of an image is launched as the later ones are */
    PINNED_MOST = 1 << 26, /* bytes that are copied at a time */
};

struct bench {
    struct cuda *cuda;
    uint32_t *image;
    void *pinned;
    uint32_t *sink;
    int64_t size, pinned_size; /* bytes */
    cudaEvent_t start, end;
};

static enum srcfind_status check(const struct bench *b, cudaError_t code, struct error *error) {
    return cuda_check(b->cuda, code, "measuring", error);
}

static cudaError_t open_bench(struct bench *b) {
    b->pinned_size = b->size < PINNED_MOST ? b->size : PINNED_MOST;
    cudaError_t code = cudaMalloc((void **)&b->image, (size_t)b->size);
    if (!code)
        code = cudaMalloc((void **)&b->sink, sizeof *b->sink);
    if (!code)
        code = cudaMallocHost(&b->pinned, (size_t)b->pinned_size);
    if (!code)
        memset(b->pinned, 0, (size_t)b->pinned_size);
    if (!code)
        code = cudaEventCreate(&b->start);
    return code ? code : cudaEventCreate(&b->end);
}

static void close_bench(struct bench *b) {
    cudaFree(b->image);
    cudaFree(b->sink);
    cudaFreeHost(b->pinned);
    if (b->start)
        cudaEventDestroy(b->start);
    if (b->end)
        cudaEventDestroy(b->end);
}

static cudaError_t launch_floor(const struct bench *b) {
    return launch_read(b->image, b->size / (int64_t)sizeof *b->image, b->sink, b->cuda->stream);
}

/* Over the image, so that it must be brought there again. */
static cudaError_t launch_copy(const struct bench *b) {
    cudaError_t code = cudaSuccess;
    for (int64_t i = 0; !code && i < b->size; i += b->pinned_size) {
        const int64_t n = b->size - i < b->pinned_size ? b->size - i : b->pinned_size;
        code = cudaMemcpyAsync((char *)b->image + i, b->pinned, (size_t)n, cudaMemcpyHostToDevice,
                               b->cuda->stream);
    }
    return code;
}

static cudaError_t measure(const struct bench *b, cudaError_t (*launch)(const struct bench *b),
                           double *seconds) {
    float milliseconds = 0;
    cudaError_t code = cudaEventRecord(b->start, b->cuda->stream);
    if (!code)
        code = launch(b);
    if (!code)
        code = cudaEventRecord(b->end, b->cuda->stream);
    if (!code)
        code = cudaStreamSynchronize(b->cuda->stream);
    if (!code)
        code = cudaEventElapsedTime(&milliseconds, b->start, b->end);
    *seconds = 1e-3 * (double)milliseconds;
    return code;
}

static enum srcfind_status search(const struct bench *b, const struct pixel_source *source,
                                  const struct detection *detection, int n_threads,
                                  struct srcfind_timings *timings, struct error *error) {
    const struct device_pixels pixels = {.pixels = (const float *)(const void *)b->image,
                                         .width = source->width,
                                         .height = source->height,
                                         .row_stride = source->width,
                                         .swapped = source->swapped,
                                         .stream = b->cuda->stream};
    struct detection_result result = {0};
    const enum srcfind_status status =
        cuda_detect_pixels(b->cuda, &pixels, detection, n_threads, &result, error);
    *timings = result.timings;
    if (status == SRCFIND_OK)
        free(result.list.islands);
    return status;
}

static enum srcfind_status run(const struct bench *b, const struct pixel_source *source,
                               const struct detection *detection, int n_threads, int n,
                               struct cuda_round *rounds, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    for (int i = 0; status == SRCFIND_OK && i < WARM_UP + n; i++)
        status =
            check(b, measure(b, launch_copy, &rounds[i < WARM_UP ? 0 : i - WARM_UP].copy), error);
    if (status == SRCFIND_OK)
        status = feed_image(b->cuda, source, n_threads, b->image, error);
    for (int i = 0; status == SRCFIND_OK && i < WARM_UP + n; i++) {
        struct cuda_round *round = &rounds[i < WARM_UP ? 0 : i - WARM_UP];
        status = check(b, measure(b, launch_floor, &round->read), error);
        if (status == SRCFIND_OK)
            status = search(b, source, detection, n_threads, &round->search, error);
    }
    return status;
}

enum srcfind_status cuda_bench(struct cuda *cuda, const struct pixel_source *source,
                               const struct detection *detection, int n_threads, int n,
                               struct cuda_round *rounds, struct error *error) {
    struct bench b = {.cuda = cuda,
                      .size = source->width * source->height * (int64_t)sizeof(uint32_t)};
    if (b.size + cuda->used > cuda->limit)
        return error_set(error, SRCFIND_ERROR_DEVICE,
                         "CUDA device %d (%s): the image has no room in its memory, in which a "
                         "search is measured; --cpu works without it",
                         cuda->device, cuda->name);
    const int callers_device = cuda_enter(cuda);
    enum srcfind_status status = check(&b, open_bench(&b), error);
    if (status == SRCFIND_OK)
        status = run(&b, source, detection, n_threads, n, rounds, error);
    close_bench(&b);
    cuda_leave(callers_device);
    return status;
}
