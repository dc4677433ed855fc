/* Smooths an image less all Gaussians so far, for the search of a scale. */
#ifndef SMOOTH_H
#define SMOOTH_H

#include "backend/smoothing.h"
#include "common/threads.h"
#include "input/pixel_source.h"
#include "measure/model.h"

/* How far samples are apart, in pixels, if the effective beam has FWHM `effective`: there are five
 * samples an effective beam. */
int64_t smoothing_step(double effective, int64_t width, int64_t height);

/* Makes the smoothing of an image with a kernel of FWHM `kernel` pixels. The number of samples
 * along each axis is a multiple of `multiple`. The caller clears the smoothing, also after a
 * failure. */
bool smoothing_make(struct smoothing *smoothing, double kernel, int64_t step, int64_t multiple,
                    int64_t width, int64_t height);
void smoothing_clear(struct smoothing *smoothing);

/* The image that is smoothed, and the function that takes its samples. */
struct smooth_work {
    const struct smoothing *smoothing;
    const struct pixel_source *source;
    const struct model *model; /* is subtracted */
    /* Takes the samples of n rows from row y on. Several threads may call this at the same time. */
    enum srcfind_status (*put)(void *context, int64_t y, int64_t n, const float *samples,
                               struct error *error);
    void *context;
};

/* Reads the image once, with all threads, and makes all samples. *n_samples: how many are not
 * blank. The image is not kept in memory, only some MiB of rows. */
enum srcfind_status smooth(const struct smooth_work *work, struct threads *threads,
                           int64_t *n_samples, struct error *error);

#endif
