/* The shapes that forced photometry holds in an image. */
#ifndef HELD_SHAPES_H
#define HELD_SHAPES_H

#include "input/position_shapes.h"
#include "input/wcs.h"
#include "measure/jacobian.h"
#include "measure/psf.h"

/* A position in pixels, and the shape that is held there, without the beam: FWHM and position angle
 * in degrees; 0: a point. */
struct forced_position {
    double x, y;
    struct srcfind_beam intrinsic;
};

/* The intrinsic shape of an entry. It is a point where the entry's shape is unknown. */
struct srcfind_beam held_shape_intrinsic(const struct position_shape *shape);

/* Sets the second moments, in pixels^2, of the shapes at n positions, each convolved with the
 * point-spread function there. A point, and a shape where the sky has no scale, get that. Moments
 * are not finite if a shape is too wide for numbers. Errors: of WCSLIB or memory. */
enum srcfind_status held_shapes_moments(struct wcs *wcs, const struct srcfind_image *image,
                                        const struct psf *psf, int64_t n,
                                        const struct forced_position *positions,
                                        struct tensor *moments, struct error *error);

#endif
