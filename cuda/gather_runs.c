/* Gathers the pixels of runs from the image that the device has. */
#include <stdlib.h>

#include "device.h"

static int64_t aligned(int64_t size) {
    return (size + 255) / 256 * 256;
}

/* The runs of a call, and where they are in the buffer. */
struct gathering {
    const struct run *runs;
    int64_t n, n_pixels;
    int64_t *first; /* of each run: where its values are */
    struct run *device_runs;
    int64_t *device_first;
    float *device_values;
};

/* False where memory ran out. */
static bool find_first(struct gathering *g) {
    g->first = malloc((size_t)g->n * sizeof *g->first);
    for (int64_t i = 0; g->first && i < g->n; i++) {
        g->first[i] = g->n_pixels;
        g->n_pixels += run_length(&g->runs[i]);
    }
    return g->first;
}

static enum srcfind_status reserve(struct cuda *cuda, struct gathering *g, struct error *error) {
    const int64_t runs = aligned(g->n * (int64_t)sizeof *g->runs);
    const int64_t first = aligned(g->n * (int64_t)sizeof *g->first);
    const enum srcfind_status status = cuda_reserve_after_search(
        cuda, runs + first + g->n_pixels * (int64_t)sizeof *g->device_values, error);
    char *const memory = cuda->buffers[BUFFER_AFTER].memory;
    g->device_runs = (void *)memory;
    g->device_first = (void *)(memory + runs);
    g->device_values = (void *)(memory + runs + first);
    return status;
}

static cudaError_t copy(const struct cuda *cuda, const struct gathering *g, float *values) {
    const struct kept_image *image = &cuda->kept;
    cudaError_t code = cudaMemcpyAsync(g->device_runs, g->runs, (size_t)g->n * sizeof *g->runs,
                                       cudaMemcpyHostToDevice, cuda->stream);
    if (!code)
        code = cudaMemcpyAsync(g->device_first, g->first, (size_t)g->n * sizeof *g->first,
                               cudaMemcpyHostToDevice, cuda->stream);
    if (!code)
        code = launch_gather(image->pixels, image->pitch, image->swapped, g->device_runs,
                             g->device_first, g->n, g->device_values, cuda->stream);
    if (!code)
        code = cudaMemcpyAsync(values, g->device_values, (size_t)g->n_pixels * sizeof *values,
                               cudaMemcpyDeviceToHost, cuda->stream);
    return code ? code : cudaStreamSynchronize(cuda->stream);
}

enum srcfind_status cuda_gather(struct cuda *cuda, const struct run *runs, int64_t n, float *values,
                                struct error *error) {
    struct gathering g = {.runs = runs, .n = n};
    if (n == 0)
        return SRCFIND_OK;
    if (!find_first(&g))
        return error_memory(error, "reading pixels again");
    const int callers_device = cuda_enter(cuda);
    enum srcfind_status status = reserve(cuda, &g, error);
    if (status == SRCFIND_OK)
        status = cuda_check(cuda, copy(cuda, &g, values), "reading pixels again", error);
    cuda_leave(callers_device);
    free(g.first);
    return status;
}
