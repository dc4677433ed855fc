/* Measures the time of a plain read and of a copy of an image, as lower bounds, and of a search. */
#include <stdlib.h>
#include <string.h>

#include "upload.h"

enum {
    WARM_UP = 3, /* rounds: from the third search on, an image's recorded graph is launched */
    PINNED_MOST = 1 << 26, /* bytes copied at a time */
};

struct bench {
    struct cuda *cuda;
    uint32_t *image;
    void *pinned;
    uint32_t *sink;
    int64_t size, pinned_size; /* bytes */
};

static cudaError_t open_bench(struct bench *b) {
    b->pinned_size = b->size < PINNED_MOST ? b->size : PINNED_MOST;
    cudaError_t code = cudaMalloc((void **)&b->image, (size_t)b->size);
    if (!code)
        code = cudaMalloc((void **)&b->sink, sizeof *b->sink);
    if (!code)
        code = cudaMallocHost(&b->pinned, (size_t)b->pinned_size);
    if (!code)
        memset(b->pinned, 0, (size_t)b->pinned_size);
    return code;
}

static void close_bench(struct bench *b) {
    cudaFree(b->image);
    cudaFree(b->sink);
    cudaFreeHost(b->pinned);
}

static cudaError_t launch_floor(const struct bench *b) {
    return launch_read(b->image, b->size / (int64_t)sizeof *b->image, b->sink, b->cuda->stream);
}

/* Copies over the image. The pixels must be uploaded again afterwards. */
static cudaError_t launch_copy(const struct bench *b) {
    cudaError_t code = cudaSuccess;
    for (int64_t i = 0; !code && i < b->size; i += b->pinned_size) {
        const int64_t n = b->size - i < b->pinned_size ? b->size - i : b->pinned_size;
        code = cudaMemcpyAsync((char *)b->image + i, b->pinned, (size_t)n, cudaMemcpyHostToDevice,
                               b->cuda->stream);
    }
    return code;
}

/* Times a launch between two events, which no search needs meanwhile. */
static enum srcfind_status measure(const struct bench *b,
                                   cudaError_t (*launch)(const struct bench *b), double *seconds,
                                   struct error *error) {
    const cudaEvent_t start = b->cuda->mark[MARK_START], end = b->cuda->mark[MARK_ENDED];
    float milliseconds = 0;
    cudaError_t code = cudaEventRecord(start, b->cuda->stream);
    if (!code)
        code = launch(b);
    if (!code)
        code = cudaEventRecord(end, b->cuda->stream);
    if (!code)
        code = cudaStreamSynchronize(b->cuda->stream);
    if (!code)
        code = cudaEventElapsedTime(&milliseconds, start, end);
    *seconds = 1e-3 * (double)milliseconds;
    return cuda_check(b->cuda, code, "measuring", error);
}

static enum srcfind_status bench_search(const struct bench *b, const struct pixel_source *source,
                                        const struct detection *detection, struct threads *threads,
                                        struct srcfind_timings *timings, struct error *error) {
    const struct device_pixels pixels = {.pixels = (const float *)(const void *)b->image,
                                         .width = source->width,
                                         .height = source->height,
                                         .row_stride = source->width,
                                         .swapped = source->swapped,
                                         .stream = b->cuda->stream};
    struct detection_result result = {0};
    const enum srcfind_status status =
        cuda_detect_pixels(b->cuda, &pixels, detection, threads, &result, error);
    *timings = result.timings;
    detection_result_clear(&result);
    return status;
}

static enum srcfind_status bench_run(const struct bench *b, const struct pixel_source *source,
                                     const struct detection *detection, struct threads *threads,
                                     int n, struct cuda_round *rounds, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    for (int i = 0; status == SRCFIND_OK && i < WARM_UP + n; i++)
        status = measure(b, launch_copy, &rounds[i < WARM_UP ? 0 : i - WARM_UP].copy, error);
    if (status == SRCFIND_OK)
        status = upload_image(b->cuda, source, threads, b->image, error);
    for (int i = 0; status == SRCFIND_OK && i < WARM_UP + n; i++) {
        struct cuda_round *round = &rounds[i < WARM_UP ? 0 : i - WARM_UP];
        status = measure(b, launch_floor, &round->read, error);
        if (status == SRCFIND_OK)
            status = bench_search(b, source, detection, threads, &round->search, error);
    }
    return status;
}

enum srcfind_status cuda_bench(struct cuda *cuda, const struct pixel_source *source,
                               const struct detection *detection, struct threads *threads, int n,
                               struct cuda_round *rounds, struct error *error) {
    struct bench b = {.cuda = cuda,
                      .size = source->width * source->height * (int64_t)sizeof(uint32_t)};
    if (b.size + cuda->used > cuda->limit)
        return error_set(error, SRCFIND_ERROR_DEVICE,
                         "CUDA device %d (%s): the image has no room in its memory, in which a "
                         "search is measured; --cpu works without it",
                         cuda->device, cuda->name);
    const int callers_device = cuda_enter(cuda);
    enum srcfind_status status = cuda_check(cuda, open_bench(&b), "measuring", error);
    if (status == SRCFIND_OK)
        status = bench_run(&b, source, detection, threads, n, rounds, error);
    close_bench(&b);
    cuda_leave(callers_device);
    return status;
}
