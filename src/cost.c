#include "cost.h"

#include <math.h>

/* Measured with an H200 (driver 580, PCIe 5) and the 16 threads of its host, from the page cache.
 */
static const double CPU_THREAD = 0.4e9;     /* pixels a second, of one thread */
static const double CPU_MOST = 1.3e9;       /* of as many as there may be */
static const double FEEDING_THREAD = 1.5e9; /* a thread that reads into pinned memory */
static const double TRANSFER_MOST = 5.5e9;
static const double LAUNCH = 0.4e-3; /* an image, however small */
static const double START = 0.25;

double cost_of_cpu(double n_pixels, int n_threads) {
    return n_pixels / fmin(CPU_THREAD * n_threads, CPU_MOST);
}

double cost_of_gpu(double n_pixels, double n_images, int n_threads) {
    return LAUNCH * n_images + n_pixels / fmin(FEEDING_THREAD * n_threads, TRANSFER_MOST);
}

bool cost_is_worth_a_start(double n_pixels, double n_images, int n_threads) {
    return START + cost_of_gpu(n_pixels, n_images, n_threads) < cost_of_cpu(n_pixels, n_threads);
}

/* A start that takes longer than is usual may take as long again. */
static double rest_of_start(double elapsed) {
    return elapsed < START ? START - elapsed : elapsed;
}

enum cost_choice cost_choose(double n_pixels, int n_threads, const struct cost_device *device) {
    const double cpu = cost_of_cpu(n_pixels, n_threads);
    const double gpu = cost_of_gpu(n_pixels, 1, n_threads);
    if (!device->started)
        return COST_TOO_LITTLE_FOR_A_START;
    if (cpu <= gpu)
        return COST_SMALL;
    if (!device->ready && cpu <= rest_of_start(device->elapsed) + gpu)
        return COST_SOONER_THAN_THE_START;
    return COST_GPU;
}
