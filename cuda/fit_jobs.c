/* How fits are carried out with a device.
 *
 * 1. The jobs are ordered by their cost (cpu/fit_order.c). A warp of the device has one job, and is
 *    10 to 35 times slower than a thread of the host, which takes jobs that the device would
 *    wait for, and those that are too large for it; all, if they are few.
 * 2. start: jobs, pixels and order are copied to the device, and the kernel begins.
 * 3. The host carries out copies of its jobs meanwhile.
 * 4. All jobs are copied back, and the host's put in their places.
 *
 * Always: device and host give the same bits, so who carries out a job changes the time only. */
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/hook.h"
#include "copies.h"
#include "cpu/fit.h"
#include "cpu/fit_order.h"
#include "fit.h"

/* The time of a job on a warp of an H200 / on a thread of its host with AVX-512: 35 for a point,
 * less for larger jobs, which are those that matter here. */
static const double SLOWNESS = 15;

/* The jobs of a call, and the device's buffer for them. */
struct device_fit {
    struct cuda *cuda;
    const struct fit_pixel *pixels;
    struct fit_job *jobs;
    int64_t n, first_pixel, n_pixels; /* pixels: those of the jobs, and any between */
    struct fit_order order;           /* the first n_on_host jobs are the host's */
    int64_t n_on_host;
    struct fit_pixel *device_pixels;
    struct fit_job *device_jobs;
    int32_t *device_order;
    unsigned long long *next;
    void *scratches;
    int64_t n_scratches;
    struct error *error;
};

static int64_t aligned(int64_t size) {
    return (size + 255) / 256 * 256;
}

/* --- who carries out what --- */

/* Moves the jobs that are too large for the device to the front of the order. Returns their
 * number. */
static int64_t move_large(const struct device_fit *f) {
    int32_t *order = f->order.job;
    int64_t n = 0;
    for (int64_t i = 0; i < f->n; i++) {
        const int32_t job = order[i];
        if (f->jobs[job].n_pixels <= FIT_DEVICE_PIXELS)
            continue;
        memmove(order + n + 1, order + n, (size_t)(i - n) * sizeof *order);
        order[n++] = job;
    }
    return n;
}

/* Orders the jobs, and chooses those of the host. */
static enum srcfind_status divide(struct device_fit *f, struct threads *threads) {
    int64_t n_warps = 0;
    if (!fit_order_make(&f->order, f->jobs, f->n, threads))
        return error_memory(f->error, "fitting sources");
    const int64_t n_large = move_large(f);
    const enum srcfind_status status =
        cuda_check(f->cuda, fit_most_scratches(f->n, &n_warps), "fitting sources", f->error);
    f->n_on_host =
        hook("SRCFIND_FITS_ON_DEVICE")
            ? n_large
            : fit_order_share(&f->order, n_large, n_warps, threads_count(threads), SLOWNESS);
    return status;
}

/* --- on the device --- */

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

/* Allocates the buffer, with as many scratches as the jobs can use and the memory has. */
static enum srcfind_status reserve(struct device_fit *f) {
    struct cuda *cuda = f->cuda;
    const int64_t jobs = aligned(f->n * (int64_t)sizeof *f->jobs);
    const int64_t pixels = aligned(f->n_pixels * (int64_t)sizeof *f->pixels);
    const int64_t order = aligned(f->n * (int64_t)sizeof *f->device_order);
    const int64_t fixed = jobs + pixels + order + aligned(sizeof *f->next);
    const int64_t available = cuda_memory_after_search(cuda, BUFFER_AFTER) - fixed;
    enum srcfind_status status =
        cuda_check(cuda, fit_most_scratches(f->n - f->n_on_host, &f->n_scratches),
                   "fitting sources", f->error);
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
    f->device_order = (void *)(memory + jobs + pixels);
    f->next = (void *)(memory + jobs + pixels + order);
    f->scratches = memory + fixed;
    return status;
}

static enum srcfind_status start(const struct device_fit *f, struct threads *threads) {
    const int64_t n_there = f->n - f->n_on_host;
    cudaError_t code =
        copy_in(f->cuda, threads, f->device_jobs, f->jobs, f->n * (int64_t)sizeof *f->jobs);
    if (!code)
        code = copy_in(f->cuda, threads, f->device_pixels, f->pixels + f->first_pixel,
                       f->n_pixels * (int64_t)sizeof *f->pixels);
    if (!code)
        code = copy_in(f->cuda, threads, f->device_order, f->order.job + f->n_on_host,
                       n_there * (int64_t)sizeof *f->device_order);
    if (!code)
        code = launch_fits(f->device_pixels - f->first_pixel, /* jobs count from there */
                           f->device_jobs, f->device_order, n_there, f->next, f->scratches,
                           f->n_scratches, f->cuda->stream);
    return cuda_check(f->cuda, code, "fitting sources", f->error);
}

/* --- all of it --- */

/* Copies the host's jobs; NULL where memory ran out. */
static struct fit_job *copy_own(const struct device_fit *f) {
    struct fit_job *own = arrays_allocate(f->n_on_host, sizeof *own);
    for (int64_t i = 0; own && i < f->n_on_host; i++)
        own[i] = f->jobs[f->order.job[i]];
    return own;
}

/* Runs the jobs. */
static enum srcfind_status run(const struct device_fit *f, struct threads *threads) {
    struct fit_job *own = copy_own(f);
    enum srcfind_status status =
        own ? start(f, threads) : error_memory(f->error, "fitting sources");
    if (status == SRCFIND_OK) {
        status = cpu_fit(f->pixels, own, f->n_on_host, threads, f->error);
        const cudaError_t code =
            copy_out(f->cuda, threads, f->jobs, f->device_jobs, f->n * (int64_t)sizeof *f->jobs);
        struct error second; /* if the host failed, its error is reported */
        const enum srcfind_status device =
            cuda_check(f->cuda, code, "fitting sources", status == SRCFIND_OK ? f->error : &second);
        status = status == SRCFIND_OK ? device : status;
    }
    for (int64_t i = 0; status == SRCFIND_OK && i < f->n_on_host; i++)
        f->jobs[f->order.job[i]] = own[i];
    free(own);
    return status;
}

enum srcfind_status cuda_fit(struct cuda *cuda, const struct fit_pixel *pixels,
                             struct fit_job *jobs, int64_t n, struct threads *threads,
                             struct error *error) {
    struct device_fit f = {.cuda = cuda, .pixels = pixels, .jobs = jobs, .n = n, .error = error};
    if (n == 0)
        return SRCFIND_OK;
    const int callers_device = cuda_enter(cuda);
    enum srcfind_status status = divide(&f, threads);
    if (status == SRCFIND_OK && f.n_on_host == n) {
        status = cpu_fit(pixels, jobs, n, threads, error);
    } else if (status == SRCFIND_OK) {
        find_pixels(&f);
        status = reserve(&f);
        if (status == SRCFIND_OK)
            status = run(&f, threads);
    }
    fit_order_clear(&f.order);
    cuda_leave(callers_device);
    return status;
}
