/* The columns of the sky: position, its errors, name, and size, from pixel quantities. */
#ifndef CELESTIAL_H
#define CELESTIAL_H

#include "input/wcs.h"
#include "measure/tensor.h"

/* A source in pixels: what is to be carried to the sky. */
struct pixel_shape {
    struct tensor position; /* covariance of the centroid, pixels^2 */
    struct tensor second; /* second moments of the source, pixels^2; NaN where there is no shape */
};

/* Fills the columns of the sky in n rows, whose x and y are set; shapes[i] belongs to rows[i]. */
enum srcfind_status celestial_fill(struct sky *sky, const struct srcfind_image *image, int64_t n,
                                   const struct pixel_shape *shapes, struct srcfind_source *rows,
                                   struct error *error);

#endif
