#include "gpu/cost.h"

#include <math.h>

/* Measured with an H200 (driver 580, PCIe 5) and the 16 threads of its host, from the page cache.
 */
static const double CPU_THREAD = 0.35e9;    /* pixels a second, of a thread among others */
static const double CPU_IMAGE = 1.9e9;      /* of all threads that search one image */
static const double FEEDING_THREAD = 1.5e9; /* of one that reads into pinned memory */
static const double TRANSFER_MOST = 8e9;
static const double LAUNCH = 0.4e-3;      /* an image, however small */
static const double LAUNCHES_AT_ONCE = 8; /* as many as gpu.c has contexts of a device */

double cost_of_cpu(double n_pixels, const struct cost_host *host) {
    return n_pixels / fmin(CPU_THREAD * host->n_threads, CPU_IMAGE * host->n_at_once);
}

double cost_of_gpu(double n_pixels, double n_images, const struct cost_host *host) {
    return LAUNCH * n_images / fmin(host->n_at_once, LAUNCHES_AT_ONCE) +
           n_pixels / fmin(FEEDING_THREAD * host->n_threads, TRANSFER_MOST);
}

bool cost_is_worth_a_start(double n_pixels, double n_images, const struct cost_host *host) {
    return COST_START + cost_of_gpu(n_pixels, n_images, host) < cost_of_cpu(n_pixels, host);
}

/* A start that takes longer than is usual may take as long again. */
static double rest_of_start(double elapsed) {
    return elapsed < COST_START ? COST_START - elapsed : elapsed;
}

enum cost_choice cost_choose(double n_pixels, int n_threads, const struct cost_device *device) {
    const struct cost_host host = {n_threads, 1};
    const double cpu = cost_of_cpu(n_pixels, &host);
    const double gpu = cost_of_gpu(n_pixels, 1, &host);
    if (!device->started)
        return COST_TOO_LITTLE_FOR_A_START;
    if (cpu <= gpu)
        return COST_SMALL;
    if (!device->ready && cpu <= rest_of_start(device->elapsed) + gpu)
        return COST_SOONER_THAN_THE_START;
    return COST_GPU;
}
