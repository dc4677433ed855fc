/* Gathers the pixels of runs from the image that the device has. */
#include "copies.h"

static int64_t aligned(int64_t size) {
    return (size + 255) / 256 * 256;
}

/* The runs of a call, and the device's buffer for them. */
struct gather_buffer {
    const struct gathered_runs *runs;
    struct run *device_runs;
    int64_t *device_first;
    float *device_values;
};

static enum srcfind_status reserve(struct cuda *cuda, struct gather_buffer *g,
                                   struct error *error) {
    const int64_t runs = aligned(g->runs->n * (int64_t)sizeof *g->device_runs);
    const int64_t first = aligned(g->runs->n * (int64_t)sizeof *g->device_first);
    const int64_t values = g->runs->n_pixels * (int64_t)sizeof *g->device_values;
    const enum srcfind_status status =
        cuda_reserve_after_search(cuda, BUFFER_AFTER, runs + first + values, error);
    char *const memory = cuda->buffers[BUFFER_AFTER].memory;
    g->device_runs = (void *)memory;
    g->device_first = (void *)(memory + runs);
    g->device_values = (void *)(memory + runs + first);
    return status;
}

static cudaError_t copy(const struct cuda *cuda, const struct gather_buffer *g, float *values,
                        struct threads *threads) {
    const struct kept_image *image = &cuda->kept;
    const int64_t n = g->runs->n, n_pixels = g->runs->n_pixels;
    cudaError_t code =
        copy_in(cuda, threads, g->device_runs, g->runs->runs, n * (int64_t)sizeof *g->device_runs);
    if (!code)
        code = copy_in(cuda, threads, g->device_first, g->runs->first,
                       n * (int64_t)sizeof *g->device_first);
    if (!code)
        code = launch_gather(image->pixels, image->pitch, image->swapped, g->device_runs,
                             g->device_first, n, g->device_values, cuda->stream);
    return code ? code
                : copy_out(cuda, threads, values, g->device_values,
                           n_pixels * (int64_t)sizeof *values);
}

enum srcfind_status cuda_gather(struct cuda *cuda, const struct gathered_runs *runs,
                                struct threads *threads, float *values, struct error *error) {
    struct gather_buffer g = {.runs = runs};
    if (runs->n_pixels == 0)
        return SRCFIND_OK;
    const int callers_device = cuda_enter(cuda);
    enum srcfind_status status = reserve(cuda, &g, error);
    if (status == SRCFIND_OK)
        status = cuda_check(cuda, copy(cuda, &g, values, threads), "reading pixels again", error);
    cuda_leave(callers_device);
    return status;
}
