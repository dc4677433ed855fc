#include "measure/world_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, POINTS = 3 };

static const double RADIAN = M_PI / 180;

/* --- names --- */

/* Writes two digits; returns the end of the text. */
static char *put_pair(char *text, int64_t number) {
    text[0] = (char)('0' + number / 10);
    text[1] = (char)('0' + number % 10);
    return text + 2;
}

/* JHHMMSS.ss+DDMMSS.s, without snprintf, which would take as long as measuring the source. */
static void name_equatorial(char equinox, double lon, double lat, char *text) {
    const int64_t ra = (int64_t)floor(lon / 15 * 360000);  /* hundredths of a second of time */
    const int64_t dec = (int64_t)floor(fabs(lat) * 36000); /* tenths of an arcsecond */
    *text++ = equinox;
    text = put_pair(text, ra / 360000);
    text = put_pair(text, ra / 6000 % 60);
    text = put_pair(text, ra / 100 % 60);
    *text++ = '.';
    text = put_pair(text, ra % 100);
    *text++ = lat < 0 ? '-' : '+';
    text = put_pair(text, dec / 36000);
    text = put_pair(text, dec / 600 % 60);
    text = put_pair(text, dec / 10 % 60);
    *text++ = '.';
    *text++ = (char)('0' + dec % 10);
    *text = '\0';
}

/* Returns the first letter of the longitude's name, or L if that is not a letter: WCSLIB accepts
 * any CTYPE xLON as a longitude, and the name must not need quotes in a catalogue. */
static char system_letter(const char *lon_name) {
    return *lon_name >= 'A' && *lon_name <= 'Z' ? *lon_name : 'L';
}

/* IAU rules: coordinates are truncated, not rounded, so that names of different precision begin
 * with the same digits (https://cds.unistra.fr/Dic/iau-spec.html). */
static void name_source(const struct srcfind_image *image, struct srcfind_source *row) {
    if (isnan(row->lon) || isnan(row->lat))
        return;
    if (strcmp(image->lon_name, "RA") == 0)
        name_equatorial(strncmp(image->frame, "FK4", 3) == 0 ? 'B' : 'J', row->lon, row->lat,
                        row->name);
    else
        snprintf(row->name, sizeof row->name, "%c%08.4f%c%07.4f", system_letter(image->lon_name),
                 floor(row->lon * 1e4) / 1e4, row->lat < 0 ? '-' : '+',
                 floor(fabs(row->lat) * 1e4) / 1e4);
}

/* --- the Jacobian --- */

/* Derivatives of east and north by x and y, in degrees per pixel. */
struct jacobian {
    double east_x, east_y, north_x, north_y;
};

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

/* Offset of a point from the centroid in radians: its orthographic projection to the plane that
 * north and east span at the centroid. 0 = 360 degrees and the poles need no special case. */
struct offset {
    double east, north;
};

static struct offset offset_of(double cos_lat, double sin_lat, double d_lon, double d_lat) {
    const double cos_point = cos_lat * (1 - versine(d_lat)) - sin_lat * sine(d_lat);
    return (struct offset){cos_point * sine(d_lon),
                           sine(d_lat) + cos_point * sin_lat * versine(d_lon)};
}

/* Distance of the two points beside a centroid from it, in pixels: half a pixel, but at most 0.2
 * arcseconds and at least one milliarcsecond. The upper bound is small compared with the curvature
 * of any projection, except at its limb; the lower bound is large compared with rounding errors of
 * positions. The Jacobian is then accurate to 1e-6, or to a few times that far from the image's
 * reference point. */
static double step_of(const struct srcfind_image *image) {
    const double pixel = sqrt(image->pixel_area);
    return fmin(0x1p-14, fmax(pixel / 2, 0x1p-22)) / pixel;
}

/* The Jacobian at a centroid, from the positions of three points: the centroid, one step to its
 * right, one step above it. */
static struct jacobian jacobian_at(const double *lon, const double *lat, double step) {
    const double cos_lat = cos(lat[0] * RADIAN), sin_lat = sin(lat[0] * RADIAN);
    const double per_pixel = 1 / (step * RADIAN);
    struct offset to[POINTS];
    for (int i = 1; i < POINTS; i++)
        to[i] = offset_of(cos_lat, sin_lat, remainder(lon[i] - lon[0], 360) * RADIAN,
                          (lat[i] - lat[0]) * RADIAN);
    return (struct jacobian){to[1].east * per_pixel, to[2].east * per_pixel,
                             to[1].north * per_pixel, to[2].north * per_pixel};
}

/* J t J^T: the tensor with x to the east and y to the north. */
static struct tensor to_world(const struct jacobian *j, const struct tensor *t) {
    return (struct tensor){
        j->east_x * j->east_x * t->xx + 2 * j->east_x * j->east_y * t->xy +
            j->east_y * j->east_y * t->yy,
        j->north_x * j->north_x * t->xx + 2 * j->north_x * j->north_y * t->xy +
            j->north_y * j->north_y * t->yy,
        j->east_x * j->north_x * t->xx + (j->east_x * j->north_y + j->east_y * j->north_x) * t->xy +
            j->east_y * j->north_y * t->yy,
    };
}

/* FWHM of the Gaussian with these second moments: sqrt(8 ln 2) times the root of each eigenvalue.
 */
static void measure_size(const struct tensor *t, struct srcfind_source *row) {
    const struct axes axes = tensor_axes(t); /* x is east, y is north */
    const double angle = 90 - atan2(axes.sine, axes.cosine) / (2 * RADIAN);
    row->major = sqrt(8 * M_LN2 * axes.major);
    row->minor = sqrt(8 * M_LN2 * (axes.minor < 0 ? 0 : axes.minor)); /* a NaN is kept */
    row->angle = angle < 180 ? angle : angle - 180;
}

static void fill_row(const struct srcfind_image *image, const double *lon, const double *lat,
                     double step, const struct pixel_shape *shape, struct srcfind_source *row) {
    row->lon = lon[0];
    row->lat = lat[0];
    name_source(image, row);
    const struct jacobian j = jacobian_at(lon, lat, step);
    const struct tensor position = to_world(&j, &shape->position);
    const struct tensor second = to_world(&j, &shape->second);
    row->e_lon = sqrt(position.xx);
    row->e_lat = sqrt(position.yy);
    measure_size(&second, row);
}

struct batch {
    double x[POINTS * BATCH], y[POINTS * BATCH], lon[POINTS * BATCH], lat[POINTS * BATCH];
};

static enum srcfind_status fill_batch(struct wcs *wcs, const struct srcfind_image *image, int n,
                                      const struct pixel_shape *shapes, struct batch *b,
                                      struct srcfind_source *rows, struct error *error) {
    const double step = step_of(image), dx[POINTS] = {0, step, 0}, dy[POINTS] = {0, 0, step};
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < POINTS; p++) {
            b->x[POINTS * i + p] = rows[i].x + dx[p];
            b->y[POINTS * i + p] = rows[i].y + dy[p];
        }
    }
    const enum srcfind_status status =
        wcs_positions(wcs, POINTS * n, b->x, b->y, b->lon, b->lat, error);
    for (int i = 0; status == SRCFIND_OK && i < n; i++)
        fill_row(image, b->lon + POINTS * i, b->lat + POINTS * i, step, &shapes[i], &rows[i]);
    return status;
}

enum srcfind_status world_columns_fill(struct wcs *wcs, const struct srcfind_image *image,
                                       int64_t n, const struct pixel_shape *shapes,
                                       struct srcfind_source *rows, struct error *error) {
    struct batch *batch = malloc(sizeof *batch);
    enum srcfind_status status = SRCFIND_OK;
    if (!batch)
        return error_memory(error, "computing sky coordinates");
    for (int64_t i = 0; status == SRCFIND_OK && i < n; i += BATCH)
        status = fill_batch(wcs, image, (int)(n - i < BATCH ? n - i : BATCH), shapes + i, batch,
                            rows + i, error);
    free(batch);
    return status;
}
