/* The choice between the CPU and a GPU, by estimates of what the rest of a run takes on each. */
#ifndef CHOICE_H
#define CHOICE_H

#include <stdbool.h>

/* The work of a search. */
struct search_work {
    double n_pixels;
    bool is_local, divides, fits; /* local noise; islands are divided; they are fitted */
    bool has_two_images;          /* the noise of one is found, and the islands of the other */
    bool is_packed;               /* its tiles are compressed */
};

/* The searches of a run so far. Times are in seconds. */
struct choice {
    double expected;             /* images; 0: not known */
    double n_finished, finished; /* images that are done, and their pixels */
    /* Of searches on the CPU that have ended: their expected and their real time. */
    double predicted, measured;
};

enum backend_choice {
    CHOOSE_CPU,
    CHOOSE_GPU_IF_FREE, /* the CPU, while no device is free: it is done before the device could be
                         */
    CHOOSE_GPU,         /* wait for a device: it is done before the CPU could be */
};

/* Chooses for the next image. n_threads: of all finders, and of this one; start: how long it takes
 * until a device is ready. Where the images of a run are not known, as many pixels are expected as
 * there were. */
enum backend_choice choice_make(const struct choice *choice, const struct search_work *work,
                                int n_threads, int own_threads, double start);

/* Adds a search on the CPU that has ended. An image may have several: of its negative, and of
 * trials.
 */
void choice_add(struct choice *choice, const struct search_work *work, double seconds,
                int own_threads);

/* Adds an image of which all searches have ended. */
void choice_end_image(struct choice *choice, double n_pixels);

#endif
