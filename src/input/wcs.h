/* Sky coordinates of an image, by WCSLIB. */
#ifndef SKY_H
#define SKY_H

#include "common/error.h"
#include "input/fits/header.h"

struct sky;

/* Reads the sky coordinates of a header for the plane that image tells, and sets image's frame,
 * equinox, lon_name, lat_name, pixel_area and frequency as far as the header has them. *sky is NULL
 * where the first two axes are not celestial, which is no error. To be closed. */
enum srcfind_status sky_open(const struct header *header, struct srcfind_image *image,
                             struct sky **sky, struct error *error);
void sky_close(struct sky *sky);

/* Longitudes and latitudes, in degrees and the image's own frame, of n points at 0-based pixel
 * coordinates x, y; NaN where the projection has no value. */
enum srcfind_status sky_positions(struct sky *sky, int n, const double *x, const double *y,
                                  double *lon, double *lat, struct error *error);

#endif
