/* The one reader of pixels that are measured: the pixels of runs, with background and rms. The runs
 * may come from another image of the same shape than the pixels. */
#ifndef RUN_PIXELS_H
#define RUN_PIXELS_H

#include "backend/backend.h"

/* The source of the pixels of runs. */
struct run_source {
    const struct pixel_source *source;
    const struct noise_map *noise;
    struct noise_sources user; /* maps that the user gives, which stand in for the noise map */
    /* Writes the values of runs, of an image that a device has; NULL: no device has it, and the
     * source is read. */
    enum srcfind_status (*gather)(void *context, const struct gathered_runs *runs, float *values,
                                  struct error *error);
    void *context;
};

/* The runs of an island, a margin or a footprint, in the order of their rows. */
struct run_set {
    const struct run *runs;
    int64_t n;
    int64_t first; /* the index of the first pixel in the result; the others follow */
};

/* The pixels of sets of runs. Where a pixel is blank, its value is NaN. */
struct run_pixels {
    float *value;
    double *background, *rms;
    int64_t capacity; /* pixels for which there is memory */
    /* Of each run of all sets: the index of its first pixel; and the runs themselves, for a device.
     */
    int64_t *first;
    struct run *runs;
    int64_t first_capacity, runs_capacity;
};

/* Reads the n_pixels pixels of n sets, in one pass over the rows of the image that have some. Runs
 * may overlap, and may be empty (x0 > x1). `pixels` is 0, or a result whose memory is used again.
 * Clear the result also after an error. */
enum srcfind_status run_pixels_read(const struct run_source *from, const struct run_set *sets,
                                    int64_t n, int64_t n_pixels, struct threads *threads,
                                    struct run_pixels *pixels, struct error *error);
void run_pixels_clear(struct run_pixels *pixels);

#endif
