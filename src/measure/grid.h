/* The grid of a search in the image: its pixels, or the samples of a scale. Measurements in samples
 * are turned to pixels here. */
#ifndef GRID_H
#define GRID_H

#include "backend/gaussian.h"

/* Sample (i, j) is at (step i + x, step j + y), in pixels, and stands for the step x step pixels
 * from pixel (step i + left, step j + top) on. The kernel is a round Gaussian. */
struct grid {
    double scale; /* FWHM of the kernel, in beams; 0: the image itself, whose step is 1 */
    int64_t step;
    double x, y;
    int64_t left, top;
    double variance;       /* of the kernel along an axis, pixels^2 */
    int64_t width, height; /* of the image */
    struct tensor beam;    /* second moments of the image's beam, pixels^2; NaN without a beam */
};

static const struct grid GRID_OF_IMAGE = {.step = 1};

/* The frame of fits in the samples, from that of the image, in whose beam the unit circle then is
 * one that the kernel has smoothed `times` times: once is the effective beam; twice is the
 * autocorrelation of the smoothed noise, since that of the image's is the beam. */
struct fit_frame grid_frame(const struct grid *grid, const struct fit_frame *of_image,
                            double times);

/* The second moments in the image of what has these in samples: without the kernel. Along both axes
 * it is at least as wide as half of the kernel, beside the beam: the smaller scales would have
 * found what is narrower, and a fit that does not tell the width must not make a spike of it. NaN
 * stays NaN. */
struct tensor grid_moments(const struct grid *grid, const struct tensor *in_samples);

/* A Gaussian of the samples in the image, at the image's resolution: its flux is the same. */
struct gaussian grid_gaussian(const struct grid *grid, const struct gaussian *in_samples);

/* The first and the last pixel along an axis of n pixels that samples `first` to `last` stand for;
 * begin: left or top. */
static inline int64_t grid_first(const struct grid *g, int64_t begin, int64_t first) {
    const int64_t pixel = g->step * first + begin;
    return pixel < 0 ? 0 : pixel;
}

static inline int64_t grid_last(const struct grid *g, int64_t begin, int64_t last, int64_t n) {
    const int64_t pixel = g->step * last + begin + g->step - 1;
    return g->scale > 0 && pixel >= n ? n - 1 : pixel;
}

/* FWHM of the round Gaussian that has the area of the effective beam, in pixels of the image. */
double grid_fwhm(const struct grid *grid);

/* The area of the effective beam / that of the beam: values of the map's unit times this are per
 * effective beam. 1 for the image itself. */
double grid_unit(const struct grid *grid);

#endif
