/* The sources of an image that tell its point-spread function: bright ones that are alone. */
#ifndef PSF_POINTS_H
#define PSF_POINTS_H

#include "measure/row_index.h"

/* A source that may be a point: its fitted second moments, pixels^2; weight: 1 / the relative error
 * of its area. */
struct psf_point {
    double x, y, weight;
    struct tensor moments;
};

enum { PSF_MOST_POINTS = 512 };

/* Lists the brightest rows, at most PSF_MOST_POINTS, that are above 15 rms, have one Gaussian, and
 * are alone within three FWHM, in pixels. index: of all rows; shapes: the second moments of the
 * free shape of each Gaussian; Gaussians are in the order of their rows. points: room for
 * PSF_MOST_POINTS. False where memory ran out. */
bool psf_points_list(const struct row_index *index, const struct srcfind_source *rows, int64_t n,
                     const struct tensor *shapes, double fwhm, struct threads *threads,
                     struct psf_point *points, int64_t *n_points);

#endif
