/* A smooth point-spread function through the shapes of sources. */
#ifndef PSF_FIT_H
#define PSF_FIT_H

#include "measure/psf.h"
#include "measure/psf_points.h"

enum {
    PSF_LEAST_POINTS = 3,
    PSF_QUADRATIC = 20
}; /* points for any shape, and for a quadratic one */

/* Sets the nodes of a point-spread function, which psf_make has made for an image of this size: a
 * quadratic polynomial of x and y for each second moment or, of fewer than PSF_QUADRATIC points,
 * constants, by least squares. Sources that are wider than the others are resolved, and are left
 * out round by round. Returns how many points are left; with fewer than PSF_LEAST_POINTS the nodes
 * keep their moments. */
int psf_fit(struct psf *psf, const struct psf_point *points, int64_t n, int64_t width,
            int64_t height);

#endif
