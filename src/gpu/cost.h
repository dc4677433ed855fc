/* What searching is expected to take on the CPU and on a GPU, in seconds; and, where the choice is
 * left to srcfind, what follows. Only guesses: no catalogue depends on them. */
#ifndef COST_H
#define COST_H

#include <stdbool.h>
#include <stdint.h>

#define COST_START 0.3 /* seconds until a device is ready */

/* How many threads of the CPU are at work, and on how many images at a time. */
struct cost_host {
    int n_threads, n_at_once;
};

double cost_of_cpu(double n_pixels, const struct cost_host *host);

/* On a device that is ready and free. */
double cost_of_gpu(double n_pixels, double n_images, const struct cost_host *host);

/* Whether so many pixels would have been searched sooner if a device had been started for them.
 * Whoever starts one as soon as this is true of what there was so far, takes at most about twice as
 * long as who knew what would still come. */
bool cost_is_worth_a_start(double n_pixels, double n_images, const struct cost_host *host);

struct cost_device {
    bool started, ready;
    double elapsed; /* since it was started */
};

enum cost_choice {
    COST_GPU,
    COST_TOO_LITTLE_FOR_A_START, /* the others: the CPU, and why */
    COST_SOONER_THAN_THE_START,
    COST_SMALL,
};

/* Where to search one image. */
enum cost_choice cost_choose(double n_pixels, int n_threads, const struct cost_device *device);

#endif
