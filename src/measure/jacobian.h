/* The Jacobian from pixels to the sky at a point of an image. */
#ifndef JACOBIAN_H
#define JACOBIAN_H

#include "backend/tensor.h"
#include "input/wcs.h"

/* Derivatives of east and north by x and y, in degrees per pixel. */
struct jacobian {
    double east_x, east_y, north_x, north_y;
};

static const double RADIAN = M_PI / 180;

/* The points whose positions give a Jacobian: the point itself, and one step to its right, left,
 * top and bottom. */
enum { JACOBIAN_POINTS = 5 };

/* The step, in pixels. */
double jacobian_step(const struct srcfind_image *image);

/* The points around (x, y), 0-based pixels. */
void jacobian_points(double x, double y, double step, double *at_x, double *at_y);

/* The Jacobian, from the positions of the points in degrees: accurate to 1e-8, and the same for the
 * mirror image to 1e-10, where pixels are a milliarcsecond or more. Where one of two opposite
 * points has no position (NaN), it is accurate to 1e-4; NaN if both have none, or the point itself.
 */
struct jacobian jacobian_of(const double *lon, const double *lat, double step);

/* The Jacobian at a point of an image. Errors: memory. */
enum srcfind_status jacobian_at(struct wcs *wcs, const struct srcfind_image *image, double x,
                                double y, struct jacobian *jacobian, struct error *error);

/* The tensor with these semi-axes, x to the east and y to the north; angle: of the major axis from
 * north through east, in degrees. */
struct tensor jacobian_ellipse(double major, double minor, double angle);

/* From the sky to pixels; not finite where the Jacobian is singular. */
struct jacobian jacobian_inverse(const struct jacobian *jacobian);

/* J t J^T: a tensor in pixels becomes one with x to the east and y to the north. */
struct tensor jacobian_apply(const struct jacobian *jacobian, const struct tensor *tensor);

#endif
