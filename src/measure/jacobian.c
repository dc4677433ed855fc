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

/* 14 arcseconds, or 16 pixels if these are less, and at least a milliarcsecond. Errors of the first
 * order cancel in differences to both sides; those of the second are 1e-9 at 14 arcseconds, and
 * rounding errors of positions 1e-11. */
double jacobian_step(const struct srcfind_image *image) {
    const double pixel = sqrt(image->pixel_area); /* degrees */
    return fmin(0x1p-8, fmax(16 * pixel, 0x1p-22)) / pixel;
}

void jacobian_points(double x, double y, double step, double *at_x, double *at_y) {
    const double dx[JACOBIAN_POINTS] = {0, step, -step, 0, 0};
    const double dy[JACOBIAN_POINTS] = {0, 0, 0, step, -step};
    for (int i = 0; i < JACOBIAN_POINTS; i++) {
        at_x[i] = x + dx[i];
        at_y[i] = y + dy[i];
    }
}

/* The derivative by a step to both sides, or to one where the other has no position on the sky. */
static struct offset derivative(struct offset after, struct offset before, double step) {
    const bool both = isfinite(after.east) && isfinite(before.east);
    const struct offset none = {0, 0};
    if (!both && isfinite(after.east))
        before = none;
    else if (!both && isfinite(before.east))
        after = none;
    const double scale = 1 / ((both ? 2 : 1) * step * RADIAN);
    return (struct offset){(after.east - before.east) * scale,
                           (after.north - before.north) * scale};
}

struct jacobian jacobian_of(const double *lon, const double *lat, double step) {
    const double cos_lat = cos(lat[0] * RADIAN), sin_lat = sin(lat[0] * RADIAN);
    struct offset to[JACOBIAN_POINTS];
    for (int i = 1; i < JACOBIAN_POINTS; i++)
        to[i] = offset_of(cos_lat, sin_lat, remainder(lon[i] - lon[0], 360) * RADIAN,
                          (lat[i] - lat[0]) * RADIAN);
    const struct offset by_x = derivative(to[1], to[2], step),
                        by_y = derivative(to[3], to[4], step);
    return (struct jacobian){by_x.east, by_y.east, by_x.north, by_y.north};
}

enum srcfind_status jacobian_at(struct wcs *wcs, const struct srcfind_image *image, double x,
                                double y, struct jacobian *jacobian, struct error *error) {
    double at_x[JACOBIAN_POINTS], at_y[JACOBIAN_POINTS];
    double lon[JACOBIAN_POINTS], lat[JACOBIAN_POINTS];
    const double step = jacobian_step(image);
    *jacobian = (struct jacobian){0};
    jacobian_points(x, y, step, at_x, at_y);
    const enum srcfind_status status =
        wcs_positions(wcs, JACOBIAN_POINTS, at_x, at_y, lon, lat, error);
    if (status == SRCFIND_OK)
        *jacobian = jacobian_of(lon, lat, step);
    return status;
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
