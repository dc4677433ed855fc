#include "measure/jacobian.h"

/* Most angles are between neighbouring pixels. For these a short series is faster than the library
 * functions, and accurate to the last bit or two. */
static const double SMALL = 1e-3; /* radians */

/* 1 - cos(x) */
static double versine(double x) {
    const double x2 = x * x;
    if (fabs(x) < SMALL)
        return x2 / 2 * (1 - x2 / 12 * (1 - x2 / 30));
    const double half = sin(x / 2);
    return 2 * half * half;
}

static double sine(double x) {
    const double x2 = x * x;
    return fabs(x) < SMALL ? x * (1 - x2 / 6 * (1 - x2 / 20)) : sin(x);
}

/* Offset of a point from the first one in radians: its orthographic projection to the plane that
 * north and east span there. 0 = 360 degrees and the poles need no special case. */
struct offset {
    double east, north;
};

static struct offset offset_of(double cos_lat, double sin_lat, double d_lon, double d_lat) {
    const double cos_point = cos_lat * (1 - versine(d_lat)) - sin_lat * sine(d_lat);
    return (struct offset){cos_point * sine(d_lon),
                           sine(d_lat) + cos_point * sin_lat * versine(d_lon)};
}

static const double LEAST_STEP = 0x1p-22; /* degrees: a milliarcsecond */

/* Half a pixel, but at most 0.2 arcseconds and at least one milliarcsecond. The upper bound is
 * small compared with the curvature of any projection, except at its limb; the lower bound is large
 * compared with rounding errors of positions. */
double jacobian_step(const struct srcfind_image *image) {
    const double pixel = sqrt(image->pixel_area);
    return fmin(0x1p-14, fmax(pixel / 2, LEAST_STEP)) / pixel;
}

struct jacobian jacobian_of(const double *lon, const double *lat, double step) {
    const double cos_lat = cos(lat[0] * RADIAN), sin_lat = sin(lat[0] * RADIAN);
    const double per_pixel = 1 / (step * RADIAN);
    struct offset to[JACOBIAN_POINTS];
    for (int i = 1; i < JACOBIAN_POINTS; i++)
        to[i] = offset_of(cos_lat, sin_lat, remainder(lon[i] - lon[0], 360) * RADIAN,
                          (lat[i] - lat[0]) * RADIAN);
    return (struct jacobian){to[1].east * per_pixel, to[2].east * per_pixel,
                             to[1].north * per_pixel, to[2].north * per_pixel};
}

/* Errors of the first order cancel, so that the steps of jacobian_at may be longer: 14 arcseconds,
 * or 16 pixels if these are less, and at least a milliarcsecond. */
static const double LONG_STEP = 0x1p-8; /* degrees */

enum srcfind_status jacobian_at(struct wcs *wcs, const struct srcfind_image *image, double x,
                                double y, struct jacobian *jacobian, struct error *error) {
    const double pixel = sqrt(image->pixel_area); /* degrees */
    *jacobian = (struct jacobian){0};
    for (int way = -1; way <= 1; way += 2) {
        const double step = way * fmin(LONG_STEP, fmax(16 * pixel, LEAST_STEP)) / pixel;
        const double at_x[] = {x, x + step, x}, at_y[] = {y, y, y + step};
        double lon[JACOBIAN_POINTS], lat[JACOBIAN_POINTS];
        const enum srcfind_status status =
            wcs_positions(wcs, JACOBIAN_POINTS, at_x, at_y, lon, lat, error);
        if (status != SRCFIND_OK)
            return status;
        const struct jacobian j = jacobian_of(lon, lat, step);
        jacobian->east_x += j.east_x / 2;
        jacobian->east_y += j.east_y / 2;
        jacobian->north_x += j.north_x / 2;
        jacobian->north_y += j.north_y / 2;
    }
    return SRCFIND_OK;
}

struct tensor jacobian_ellipse(double major, double minor, double angle) {
    const double twice = 2 * (90 - angle) * RADIAN;
    const struct axes axes = {major * major, minor * minor, cos(twice), sin(twice)};
    return tensor_of_axes(&axes);
}

struct jacobian jacobian_inverse(const struct jacobian *j) {
    const double area = j->east_x * j->north_y - j->east_y * j->north_x;
    return (struct jacobian){j->north_y / area, -j->east_y / area, -j->north_x / area,
                             j->east_x / area};
}

struct tensor jacobian_apply(const struct jacobian *j, const struct tensor *t) {
    return (struct tensor){
        j->east_x * j->east_x * t->xx + 2 * j->east_x * j->east_y * t->xy +
            j->east_y * j->east_y * t->yy,
        j->north_x * j->north_x * t->xx + 2 * j->north_x * j->north_y * t->xy +
            j->north_y * j->north_y * t->yy,
        j->east_x * j->north_x * t->xx + (j->east_x * j->north_y + j->east_y * j->north_x) * t->xy +
            j->east_y * j->north_y * t->yy,
    };
}
