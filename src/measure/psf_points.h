/* The point-spread function of an image by its own sources: bright ones that are alone. */
#ifndef PSF_POINTS_H
#define PSF_POINTS_H

#include "measure/psf.h"
#include "measure/run_pixels.h"
#include "measure/sweeps.h"
#include "srcfind.h"

/* A source that may be a point: its fitted second moments, pixels^2, and its weight. */
struct psf_point {
    double x, y, weight;
    struct tensor moments;
};

/* The image, and how its sources are fitted. */
struct psf_search {
    const struct run_source *pixels;
    int64_t width, height;
    const struct fit_frame *frame; /* of the beam */
    const struct fitter *fitter;
};

enum { PSF_MOST_POINTS = 512 };

/* Fits free shapes to the brightest rows, at most PSF_MOST_POINTS, that are above 15 rms, have one
 * Gaussian, and are alone within 3 FWHM. points: room for PSF_MOST_POINTS. *n_points: how many have
 * a shape. The bytes do not depend on the number of threads. */
enum srcfind_status psf_points_find(const struct psf_search *search,
                                    const struct srcfind_source *rows, int64_t n,
                                    struct threads *threads, struct psf_point *points,
                                    int64_t *n_points, struct error *error);

#endif
