#include "gpu/choice.h"

#include <math.h>
#include <stddef.h>

/* Seconds a pixel of each stage of a search: for a thread of the CPU; for a device, with the copy
 * to it; for a thread of the device's host. Measured with skies of 16384 squared on an H100 and 16
 * threads of its host; a run corrects the first column by what its own images take. */
static const struct cost {
    double cpu, device, host;
} ALWAYS = {4.7e-9, 0.25e-9, 1.1e-9}, LOCAL = {21e-9, 0.12e-9, 0}, DIVIDE = {10e-9, 0, 8e-9},
  FIT = {12e-9, 0, 10e-9};

/* The same of tiles that are unpacked by Rice's method, on a virtual machine with two CPUs. */
static const struct cost UNPACK = {11e-9, 0, 11e-9};

static struct cost cost_of(const struct search_work *w) {
    const struct cost *const noise = w->is_local ? &LOCAL : NULL;
    const struct cost *const parts[] = {&ALWAYS,
                                        noise,
                                        w->has_two_images ? &ALWAYS : NULL,
                                        w->has_two_images ? noise : NULL,
                                        w->divides ? &DIVIDE : NULL,
                                        w->fits ? &FIT : NULL,
                                        w->is_packed ? &UNPACK : NULL};
    struct cost sum = {0, 0, 0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sum.cpu += parts[i] ? parts[i]->cpu : 0;
        sum.device += parts[i] ? parts[i]->device : 0;
        sum.host += parts[i] ? parts[i]->host : 0;
    }
    return sum;
}

/* Pixels of images that are not done, with this one: others have as many as those so far, which the
 * sizes of compressed files would not tell. */
static double pixels_left(const struct choice *c, double n_pixels) {
    const double so_far = c->finished + n_pixels, n_left = c->expected - c->n_finished;
    return c->expected > 0 ? fmax(n_left * so_far / (c->n_finished + 1), n_pixels) : so_far;
}

/* Beside a device, whose searches need threads, too, a search on the CPU takes so much longer. */
static const double BESIDE_GPU = 1.5;

enum backend_choice choice_make(const struct choice *c, const struct search_work *work,
                                int n_threads, int own_threads, double start) {
    enum { MOST = 8 }; /* a first image that waits for its file tells little */
    const struct cost cost = cost_of(work);
    const double measured = c->predicted > 0 ? c->measured / c->predicted : 1;
    const double slower = fmin(fmax(measured, 1.0 / MOST), MOST);
    const double left = pixels_left(c, work->n_pixels);
    const double cpu = left * cost.cpu * slower / n_threads;
    const double gpu = start + left * (cost.device + cost.host * slower / n_threads);
    const double this_on_cpu = work->n_pixels * cost.cpu * slower / own_threads;
    return gpu >= cpu                       ? CHOOSE_CPU
           : BESIDE_GPU * this_on_cpu < gpu ? CHOOSE_GPU_IF_FREE
                                            : CHOOSE_GPU;
}

void choice_add(struct choice *c, const struct search_work *work, double seconds, int own_threads) {
    c->predicted += work->n_pixels * cost_of(work).cpu;
    c->measured += seconds * own_threads;
}

void choice_end_image(struct choice *c, double n_pixels) {
    c->n_finished++;
    c->finished += n_pixels;
}
