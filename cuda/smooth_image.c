/* Smooths the image that the device has, in bands of its rows: see smooth.cu. */
#include <string.h>

#include "copies.h"

enum { BAND_BYTES = 1 << 28 }; /* of the rows of a band, if one row of samples does not need more */

static int64_t aligned(int64_t size) {
    return (size + 255) / 256 * 256;
}

/* An image that is smoothed, and the buffer of a call. */
struct smoothed {
    struct cuda *cuda;
    const struct smoothing *smoothing; /* on the host, as is the model */
    const struct smoothing_model *model;
    struct threads *threads;
    struct smooth_band band; /* what the kernels take: pointers are to the device */
    int64_t rows_a_band;     /* of samples */
};

static int64_t bytes_a_row(const struct smoothed *s) {
    return (s->band.width + 2 * s->smoothing->width) * (int64_t)sizeof(float);
}

/* The rows of the image that n rows of samples need. */
static int64_t rows_of(const struct smoothed *s, int64_t n) {
    return (n - 1) * s->smoothing->step + s->smoothing->n_y;
}

/* Takes a range of a buffer. */
static void *take(char **memory, int64_t size) {
    void *const range = *memory;
    *memory += aligned(size);
    return range;
}

/* Reserves memory for the samples, and for the rest of the call. */
static enum srcfind_status reserve(struct smoothed *s, struct error *error) {
    const struct smoothing *m = s->smoothing;
    const int64_t n_cells = s->model->n_x * s->model->n_y, size = sizeof(float);
    const int64_t kernel_x = m->n_x * size, kernel_y = m->n_y * size, first = (n_cells + 1) * 8;
    const int64_t gaussians = s->model->n * (int64_t)sizeof *s->model->gaussians;
    const int64_t reaching = s->model->first[n_cells] * (int64_t)sizeof *s->model->reaching;
    const int64_t fit = BAND_BYTES / bytes_a_row(s) - m->n_y;
    s->rows_a_band = fit < 0 ? 1 : fit / m->step + 1;
    const int64_t most = rows_of(s, s->rows_a_band);
    const int64_t n_rows = most < s->band.height ? most : s->band.height;
    const int64_t fixed = aligned(kernel_x) + aligned(kernel_y) + aligned(first) +
                          aligned(gaussians) + aligned(reaching) +
                          aligned(sizeof *s->band.n_samples);
    enum srcfind_status status = /* aligned as buffers.c does, so that no search makes it grow */
        cuda_reserve_after_search(s->cuda, BUFFER_SAMPLES, aligned(m->width * m->height * size),
                                  error);
    s->band.samples = s->cuda->buffers[BUFFER_SAMPLES].memory;
    s->cuda->kept =
        (struct kept_image){(const uint32_t *)(const void *)s->band.samples, m->width, false};
    if (status == SRCFIND_OK)
        status = cuda_reserve_after_search(s->cuda, BUFFER_AFTER,
                                           fixed + 3 * 256 + n_rows * bytes_a_row(s), error);
    char *memory = s->cuda->buffers[BUFFER_AFTER].memory;
    s->band.smoothing.kernel_x = take(&memory, kernel_x);
    s->band.smoothing.kernel_y = take(&memory, kernel_y);
    s->band.model.first = take(&memory, first);
    s->band.model.gaussians = take(&memory, gaussians);
    s->band.model.reaching = take(&memory, reaching);
    s->band.n_samples = take(&memory, sizeof *s->band.n_samples);
    s->band.residual = take(&memory, n_rows * s->band.width * size);
    s->band.sums = take(&memory, n_rows * m->width * size);
    s->band.weights = take(&memory, n_rows * m->width * size);
    return status;
}

static cudaError_t copy(const struct smoothed *s) {
    const struct smoothing *m = s->smoothing;
    const struct smoothing_model *model = s->model;
    const int64_t n_cells = model->n_x * model->n_y;
    const struct {
        const void *to, *from;
        int64_t size;
    } parts[] = {
        {s->band.smoothing.kernel_x, m->kernel_x, m->n_x * (int64_t)sizeof *m->kernel_x},
        {s->band.smoothing.kernel_y, m->kernel_y, m->n_y * (int64_t)sizeof *m->kernel_y},
        {s->band.model.first, model->first, (n_cells + 1) * (int64_t)sizeof *model->first},
        {s->band.model.gaussians, model->gaussians, model->n * (int64_t)sizeof *model->gaussians},
        {s->band.model.reaching, model->reaching,
         model->first[n_cells] * (int64_t)sizeof *model->reaching}};
    cudaError_t code =
        cudaMemsetAsync(s->band.n_samples, 0, sizeof *s->band.n_samples, s->cuda->stream);
    for (size_t i = 0; !code && i < sizeof parts / sizeof *parts; i++)
        code = copy_in(s->cuda, s->threads, (void *)parts[i].to, parts[i].from, parts[i].size);
    return code;
}

/* Queues all bands. */
static cudaError_t launch(struct smoothed *s) {
    struct smooth_band *b = &s->band;
    const struct smoothing *m = s->smoothing;
    cudaError_t code = cudaSuccess;
    for (b->first = 0; !code && b->first < m->height; b->first += b->n) {
        const int64_t rest = m->height - b->first, top = b->first * m->step + m->top;
        b->n = rest < s->rows_a_band ? rest : s->rows_a_band;
        const int64_t end = top + rows_of(s, b->n);
        const int64_t first = top < 0 ? 0 : top, last = end < b->height ? end : b->height;
        b->n_rows = last > first ? last - first : 0; /* 0: all samples are outside of the image */
        b->first_row = first;
        code = launch_smooth(b, s->cuda->stream);
    }
    return code;
}

enum srcfind_status cuda_smooth(struct cuda *cuda, const struct smoothing *smoothing,
                                const struct smoothing_model *model, int64_t width, int64_t height,
                                struct threads *threads, struct device_pixels *samples,
                                int64_t *n_samples, struct error *error) {
    const struct kept_image *image = &cuda->image;
    struct smoothed s = {.cuda = cuda,
                         .smoothing = smoothing,
                         .model = model,
                         .threads = threads,
                         .band = {.pixels = image->pixels,
                                  .pitch = image->pitch,
                                  .swapped = image->swapped,
                                  .width = width,
                                  .height = height,
                                  .smoothing = *smoothing,
                                  .model = *model}};
    unsigned long long n = 0;
    const int callers_device = cuda_enter(cuda);
    enum srcfind_status status = reserve(&s, error);
    cudaError_t code = cudaSuccess;
    if (status == SRCFIND_OK)
        code = copy(&s);
    if (status == SRCFIND_OK && !code)
        code = launch(&s);
    if (status == SRCFIND_OK && !code)
        code = cuda_fetch(cuda, &n, s.band.n_samples, sizeof n);
    if (status == SRCFIND_OK)
        status = cuda_check(cuda, code, "smoothing the image", error);
    cuda_leave(callers_device);
    *n_samples = (int64_t)n;
    *samples = (struct device_pixels){.pixels = s.band.samples,
                                      .width = smoothing->width,
                                      .height = smoothing->height,
                                      .row_stride = smoothing->width,
                                      .stream = cuda->stream};
    return status;
}
