/* The shapes that forced photometry holds in an image. */
#ifndef HELD_SHAPES_H
#define HELD_SHAPES_H

#include "input/position_shapes.h"
#include "input/wcs.h"
#include "measure/jacobian.h"

/* The shape of an entry without any beam: FWHM and position angle in degrees. All are 0 where it is
 * not known, or is that of a point. */
struct srcfind_beam held_shape_intrinsic(const struct position_shape *shape);

/* Sets the second moments, in pixels^2, of n shapes at (x, y), each convolved with the image's
 * beam. A shape of 0, and one at a place that has no scale on the sky, has those of the beam. They
 * are not finite if the shape is too wide for numbers.
 * Errors: of WCSLIB or memory. */
enum srcfind_status held_shapes_moments(struct wcs *wcs, const struct srcfind_image *image,
                                        const struct tensor *beam, int n, const double *x,
                                        const double *y, const struct srcfind_beam *intrinsic,
                                        struct tensor *moments, struct error *error);

#endif
