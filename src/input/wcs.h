/* World coordinates of an image, by WCSLIB. */
#ifndef WCS_H
#define WCS_H

#include "common/error.h"
#include "input/fits/header.h"

struct wcs;

/* Reads the celestial coordinates of a header for the plane image->plane and the part that begins
 * at image->first_x and first_y, from which pixels are counted, and sets frame, equinox,
 * lon_name, lat_name, pixel_area (square degrees) and frequency of the image, if the header has
 * them. *result is NULL if the first two axes are not celestial or cannot be used, which is no
 * error: image->no_sky then says why, "" if the header has no axes of the sky. The caller closes
 * *result. */
enum srcfind_status wcs_open(const struct header *header, struct srcfind_image *image,
                             struct wcs **result, struct error *error);
void wcs_close(struct wcs *wcs);

/* Returns a copy for another thread: WCSLIB's structs have scratch space, so threads cannot share
 * one. The caller closes it. NULL if memory ran out. */
struct wcs *wcs_copy(const struct wcs *wcs);

/* Converts n points at 0-based pixel coordinates x, y to longitudes and latitudes in degrees, in
 * the image's own frame; NaN for points outside the projection, by more than a hundredth of a
 * pixel. A cylindrical projection goes on beyond half a turn of native longitude. */
enum srcfind_status wcs_positions(struct wcs *wcs, int n, const double *x, const double *y,
                                  double *lon, double *lat, struct error *error);

/* Converts n longitudes and latitudes to 0-based pixel coordinates; NaN for points outside the
 * projection. In a cylindrical projection a position has pixels a turn apart: the one nearest to
 * the middle of the image is taken. */
enum srcfind_status wcs_pixels(struct wcs *wcs, int n, const double *lon, const double *lat,
                               double *x, double *y, struct error *error);

/* Moves a longitude to [0, 360) degrees; NaN if its rounding error is above a milliarcsecond. */
double wcs_longitude(double degrees);

/* The offset in pixels to the same position one turn of longitude on, in a cylindrical projection;
 * 0 in others. */
void wcs_turn(const struct wcs *wcs, double *x, double *y);

/* The reference pixel of the first two axes, 0-based. */
void wcs_reference_pixel(const struct wcs *wcs, double *x, double *y);

#endif
