/* The shapes that forced photometry holds in an image. */
#ifndef HELD_SHAPES_H
#define HELD_SHAPES_H

#include "input/position_shapes.h"
#include "input/wcs.h"
#include "measure/jacobian.h"

/* The intrinsic shape of an entry: FWHM without the beam, and position angle, in degrees. All are 0
 * for a point and for an unknown shape. */
struct srcfind_beam held_shape_intrinsic(const struct position_shape *shape);

/* Sets the second moments, in pixels^2, of n shapes at (x, y), each convolved with the image's
 * beam. A shape of 0, and a shape where the sky has no scale, get the beam's. Moments are not
 * finite if a shape is too wide for numbers. Errors: of WCSLIB or memory. */
enum srcfind_status held_shapes_moments(struct wcs *wcs, const struct srcfind_image *image,
                                        const struct tensor *beam, int n, const double *x,
                                        const double *y, const struct srcfind_beam *intrinsic,
                                        struct tensor *moments, struct error *error);

#endif
