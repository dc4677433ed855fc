/* Fits on a device: copies jobs and pixels there, and the results back. */
#include <stdlib.h>

#include "copies.h"
#include "cpu/fit.h"
#include "fit.h"

/* The jobs of a call, and the device's buffer for them. */
struct device_fit {
    struct cuda *cuda;
    const struct fit_pixel *pixels;
    struct fit_job *jobs;
    int64_t n, first_pixel, n_pixels; /* pixels: those of the jobs, and any between */
    struct fit_pixel *device_pixels;
    struct fit_job *device_jobs;
    unsigned long long *next;
    void *scratches;
    int64_t n_scratches;
    struct error *error;
};

static int64_t aligned(int64_t size) {
    return (size + 255) / 256 * 256;
}

/* Allocates the buffer, with as many scratches as the jobs can use and the memory has. */
static enum srcfind_status reserve(struct device_fit *f) {
    struct cuda *cuda = f->cuda;
    const int64_t jobs = aligned(f->n * (int64_t)sizeof *f->jobs);
    const int64_t pixels = aligned(f->n_pixels * (int64_t)sizeof *f->pixels);
    const int64_t fixed = jobs + pixels + aligned(sizeof *f->next);
    const int64_t available = cuda_memory_after_search(cuda, BUFFER_AFTER) - fixed;
    enum srcfind_status status =
        cuda_check(cuda, fit_most_scratches(f->n, &f->n_scratches), "fitting sources", f->error);
    if (f->n_scratches > available / fit_scratch_size())
        f->n_scratches = available / fit_scratch_size() / 32 * 32;
    if (status == SRCFIND_OK && f->n_scratches < 1)
        status = error_set(f->error, SRCFIND_ERROR_DEVICE,
                           "CUDA device %d (%s): too little memory to fit sources there",
                           cuda->device, cuda->name);
    const int64_t size = fixed + f->n_scratches * fit_scratch_size();
    if (status == SRCFIND_OK)
        status = cuda_reserve_after_search(cuda, BUFFER_AFTER, size, f->error);
    char *const memory = cuda->buffers[BUFFER_AFTER].memory;
    f->device_jobs = (void *)memory;
    f->device_pixels = (void *)(memory + jobs);
    f->next = (void *)(memory + jobs + pixels);
    f->scratches = memory + fixed;
    return status;
}

static enum srcfind_status start(const struct device_fit *f, struct threads *threads) {
    cudaError_t code =
        copy_in(f->cuda, threads, f->device_jobs, f->jobs, f->n * (int64_t)sizeof *f->jobs);
    if (!code)
        code = copy_in(f->cuda, threads, f->device_pixels, f->pixels + f->first_pixel,
                       f->n_pixels * (int64_t)sizeof *f->pixels);
    if (!code)
        code = launch_fits(f->device_pixels - f->first_pixel, /* jobs count from there */
                           f->device_jobs, f->n, f->next, f->scratches, f->n_scratches,
                           f->cuda->stream);
    return cuda_check(f->cuda, code, "fitting sources", f->error);
}

/* Copies the jobs that are too large for the device; NULL where memory ran out. */
static struct fit_job *copy_large(const struct device_fit *f, int64_t *n) {
    struct fit_job *large;
    *n = 0;
    for (int64_t i = 0; i < f->n; i++)
        *n += f->jobs[i].n_pixels > FIT_DEVICE_PIXELS;
    large = malloc((size_t)*n * sizeof *large + 1);
    for (int64_t i = 0, k = 0; large && i < f->n; i++)
        if (f->jobs[i].n_pixels > FIT_DEVICE_PIXELS)
            large[k++] = f->jobs[i];
    return large;
}

/* Puts the large jobs back. */
static void set_large(const struct device_fit *f, const struct fit_job *large) {
    for (int64_t i = 0, k = 0; i < f->n; i++)
        if (f->jobs[i].n_pixels > FIT_DEVICE_PIXELS)
            f->jobs[i] = large[k++];
}

/* Runs the jobs; the host fits the large ones meanwhile. */
static enum srcfind_status run(const struct device_fit *f, struct threads *threads) {
    int64_t n_large;
    struct fit_job *large = copy_large(f, &n_large);
    enum srcfind_status status =
        large ? start(f, threads) : error_memory(f->error, "fitting sources");
    if (status == SRCFIND_OK) {
        status = cpu_fit(f->pixels, large, n_large, threads, f->error);
        const cudaError_t code =
            copy_out(f->cuda, threads, f->jobs, f->device_jobs, f->n * (int64_t)sizeof *f->jobs);
        struct error second; /* if the host failed, its error is reported */
        const enum srcfind_status device =
            cuda_check(f->cuda, code, "fitting sources", status == SRCFIND_OK ? f->error : &second);
        status = status == SRCFIND_OK ? device : status;
    }
    if (status == SRCFIND_OK)
        set_large(f, large);
    free(large);
    return status;
}

/* Finds the range of pixels that the jobs have. */
static void find_pixels(struct device_fit *f) {
    int64_t end = 0;
    f->first_pixel = f->jobs[0].first;
    for (int64_t i = 0; i < f->n; i++) {
        const struct fit_job *job = &f->jobs[i];
        f->first_pixel = job->first < f->first_pixel ? job->first : f->first_pixel;
        end = job->first + job->n_pixels > end ? job->first + job->n_pixels : end;
    }
    f->n_pixels = end - f->first_pixel;
}

enum srcfind_status cuda_fit(struct cuda *cuda, const struct fit_pixel *pixels,
                             struct fit_job *jobs, int64_t n, struct threads *threads,
                             struct error *error) {
    struct device_fit f = {.cuda = cuda, .pixels = pixels, .jobs = jobs, .n = n, .error = error};
    if (n == 0)
        return SRCFIND_OK;
    find_pixels(&f);
    const int callers_device = cuda_enter(cuda);
    enum srcfind_status status = reserve(&f);
    if (status == SRCFIND_OK)
        status = run(&f, threads);
    cuda_leave(callers_device);
    return status;
}
