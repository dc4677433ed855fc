/* World columns: position, its errors, name and size on the sky, from pixel quantities. */
#ifndef WORLD_COLUMNS_H
#define WORLD_COLUMNS_H

#include "input/wcs.h"
#include "measure/fit_uncertainty.h"
#include "measure/psf.h"

/* The tensors of a source that are converted from pixels to the sky. */
struct pixel_shape {
    struct tensor position;      /* covariance of the centroid, pixels^2 */
    struct tensor second;        /* second moments of the source, pixels^2; NaN where unknown */
    double x_highest, y_highest; /* position of the highest value of a fitted source; else NaN */
    bool is_fitted;              /* errors of the size, and the deconvolved size, are wanted */
    bool has_beam_shape;
    struct shape_error error;
};

/* Fills the world columns of n rows, whose x and y are set; shapes[i] belongs to rows[i]. Columns
 * are NaN, and the name empty, where a pixel has no position. psf: what sizes are without; its
 * moments are NaN where they are unknown. Errors: of WCSLIB or memory. */
enum srcfind_status world_columns_fill(struct wcs *wcs, const struct srcfind_image *image,
                                       const struct psf *psf, int64_t n,
                                       const struct pixel_shape *shapes,
                                       struct srcfind_source *rows, struct error *error);

/* Sets the name of a row, from lon and lat: "" if these are not known. */
void world_columns_name(const struct srcfind_image *image, struct srcfind_source *row);

/* Sets sizes, angles and their errors for rows of an image without sky coordinates: in pixels, as
 * if north were up and east left. The beam is then unknown. */
void world_columns_in_pixels(int64_t n, const struct pixel_shape *shapes,
                             struct srcfind_source *rows);

#endif
