/* How pixel columns become sky columns, 256 rows at a time.
 *
 * 1. fill_batch asks WCSLIB for five positions a row: the source, and one step to each side of it.
 *    Their differences are the Jacobian from pixels to east and north (jacobian.c).
 * 2. fill_row: position and name; covariances and second moments are turned by J t J^T, and their
 *    eigenvalues are errors, sizes and angles.
 * 3. measure_fitted_size: errors of sizes from the errors of moments along and across the major
 *    axis; the intrinsic size is that of the moments less the beam's, which add up under
 *    convolution (Wild 1970).
 * 4. fill_highest: the sky position of the highest value, if it is not the source's position.
 *
 * Always: pixels without a position on the sky get NaN and no name. Names are truncated, not
 * rounded (IAU).
 *
 * Cost: WCSLIB's conversions, five or six a row; names are written without snprintf, which would
 * take as long as measuring the source. */
#include "measure/world_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/format_double.h"
#include "measure/jacobian.h"

enum { BATCH = 256, POINTS = JACOBIAN_POINTS };

/* --- names --- */

/* Writes two digits; returns the end of the text. */
static char *put_pair(char *text, int64_t number) {
    text[0] = (char)('0' + number / 10);
    text[1] = (char)('0' + number % 10);
    return text + 2;
}

/* Writes JHHMMSS.ss+DDMMSS.s. */
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

/* LDDD.dddd+DD.dddd */
static void name_other(char system, double lon, double lat, char *text) {
    snprintf(text, SRCFIND_CELL, "%c%08.4f%c%07.4f", system, floor(lon * 1e4) / 1e4,
             lat < 0 ? '-' : '+', floor(fabs(lat) * 1e4) / 1e4);
    format_point(format_point(text));
}

/* IAU rules: coordinates are truncated, not rounded, so that names of different precision begin
 * with the same digits (https://cds.unistra.fr/Dic/iau-spec.html). */
void world_columns_name(const struct srcfind_image *image, struct srcfind_source *row) {
    if (isnan(row->lon) || isnan(row->lat))
        return;
    if (strcmp(image->lon_name, "RA") == 0)
        name_equatorial(strncmp(image->frame, "FK4", 3) == 0 ? 'B' : 'J', row->lon, row->lat,
                        row->name);
    else
        name_other(system_letter(image->lon_name), row->lon, row->lat, row->name);
}

/* --- size and errors --- */

/* The position angle of the major axis, from 0 to 180 degrees; x is east, y is north. */
static double angle_of(const struct axes *axes) {
    const double angle = 90 - atan2(axes->sine, axes->cosine) / (2 * RADIAN);
    return angle < 180 ? angle : angle - 180;
}

/* FWHM of the Gaussian with these second moments: sqrt(8 ln 2) times the root of each eigenvalue.
 */
static void measure_size(const struct tensor *t, struct srcfind_source *row) {
    const struct axes axes = tensor_axes(t); /* x is east, y is north */
    row->major = FIT_FWHM * sqrt(axes.major);
    row->minor = FIT_FWHM * sqrt(axes.minor < 0 ? 0 : axes.minor); /* a NaN is kept */
    row->angle = angle_of(&axes);
}

/* The direction of a major axis, from east towards north. */
struct direction {
    double east, north;
};

static struct direction direction_of(const struct axes *axes) {
    const double angle = atan2(axes->sine, axes->cosine) / 2;
    return (struct direction){cos(angle), sin(angle)};
}

/* Standard errors of the second moments along and across a direction, and of the mixed moment. */
struct moment_errors {
    double along, across, mixed;
};

/* The error of a weighted sum of the moments along the major axis, along the minor axis, and mixed.
 */
static double error_of_sum(const struct shape_error *e, double major, double minor, double mixed) {
    const double sum = major * major * e->major + minor * minor * e->minor +
                       2 * major * minor * e->covariance + mixed * mixed * e->mixed +
                       2 * mixed * (major * e->major_mixed + minor * e->minor_mixed);
    return sqrt(fmax(sum, 0));
}

static struct moment_errors moment_errors(const struct jacobian *j, const struct shape_error *e,
                                          struct direction d) {
    const double *t = e->to_pixels;
    /* from the axes of the source in the frame to the sky */
    const double east_a = j->east_x * t[0] + j->east_y * t[2];
    const double east_b = j->east_x * t[1] + j->east_y * t[3];
    const double north_a = j->north_x * t[0] + j->north_y * t[2];
    const double north_b = j->north_x * t[1] + j->north_y * t[3];
    /* and to the direction */
    const double a = d.east * east_a + d.north * north_a, b = d.east * east_b + d.north * north_b;
    const double c = d.east * north_a - d.north * east_a, s = d.east * north_b - d.north * east_b;
    return (struct moment_errors){error_of_sum(e, a * a, b * b, 2 * a * b),
                                  error_of_sum(e, c * c, s * s, 2 * c * s),
                                  error_of_sum(e, a * c, b * s, a * s + b * c)};
}

/* The error of a FWHM, from its second moment and its error; near 0 the FWHM of the error alone. */
static double error_of_size(double moment, double error) {
    return FIT_FWHM * (moment > error / 4 ? error / (2 * sqrt(moment)) : sqrt(error));
}

/* The error of a position angle, degrees; at most that of a random angle. */
static double error_of_angle(const struct axes *axes, double mixed) {
    const double random = 180 / sqrt(12), difference = axes->major - axes->minor;
    const double error = difference > 0 ? mixed / difference / RADIAN : random;
    return error < random ? error : random;
}

/* Sets the errors of the size, and the size without the beam: second moments add up under
 * convolution (Wild 1970, Aust. J. Phys. 23, 113). The beam is subtracted in pixels, where it is
 * the same in the whole image, and the rest is turned to the sky. */
static void measure_fitted_size(const struct jacobian *j, const struct tensor *second,
                                const struct tensor *beam, const struct pixel_shape *shape,
                                struct srcfind_source *row) {
    const struct axes axes = tensor_axes(second);
    if (isnan(axes.major)) /* no position on the sky */
        return;
    const struct moment_errors e = moment_errors(j, &shape->error, direction_of(&axes));
    row->e_major = error_of_size(axes.major, e.along);
    row->e_minor = error_of_size(axes.minor, e.across);
    row->e_angle = error_of_angle(&axes, e.mixed);
    if (isnan(beam->xx))
        return;
    const struct tensor in_pixels = {shape->second.xx - beam->xx, shape->second.yy - beam->yy,
                                     shape->second.xy - beam->xy};
    const struct tensor without = jacobian_apply(j, &in_pixels);
    struct axes intrinsic = tensor_axes(&without);
    const struct moment_errors intrinsic_errors =
        moment_errors(j, &shape->error, direction_of(&intrinsic));
    const bool is_resolved = !shape->has_beam_shape && intrinsic.major > 0;
    intrinsic.major = is_resolved ? intrinsic.major : 0;
    intrinsic.minor = is_resolved && intrinsic.minor > 0 ? intrinsic.minor : 0;
    row->dc_major = FIT_FWHM * sqrt(intrinsic.major);
    row->dc_minor = FIT_FWHM * sqrt(intrinsic.minor);
    row->dc_angle = is_resolved ? angle_of(&intrinsic) : 0;
    row->e_dc_major = error_of_size(intrinsic.major, intrinsic_errors.along);
    row->e_dc_minor = error_of_size(intrinsic.minor, intrinsic_errors.across);
    row->e_dc_angle = error_of_angle(&intrinsic, intrinsic_errors.mixed);
}

static void fill_row(const struct srcfind_image *image, const double *lon, const double *lat,
                     double step, const struct tensor *beam, const struct pixel_shape *shape,
                     struct srcfind_source *row) {
    row->lon = lon[0];
    row->lat = lat[0];
    world_columns_name(image, row);
    const struct jacobian j = jacobian_of(lon, lat, step);
    const struct tensor position = jacobian_apply(&j, &shape->position);
    const struct tensor second = jacobian_apply(&j, &shape->second);
    row->e_lon = sqrt(position.xx);
    row->e_lat = sqrt(position.yy);
    measure_size(&second, row);
    if (shape->is_fitted)
        measure_fitted_size(&j, &second, beam, shape, row);
}

void world_columns_in_pixels(int64_t n, const struct pixel_shape *shapes,
                             struct srcfind_source *rows) {
    static const struct jacobian north_up = {.east_x = -1, .north_y = 1};
    static const struct tensor no_beam = {NAN, NAN, NAN};
    for (int64_t i = 0; i < n; i++) {
        const struct tensor second = jacobian_apply(&north_up, &shapes[i].second);
        measure_size(&second, &rows[i]);
        if (shapes[i].is_fitted)
            measure_fitted_size(&north_up, &second, &no_beam, &shapes[i], &rows[i]);
    }
}

struct batch {
    double x[POINTS * BATCH], y[POINTS * BATCH], lon[POINTS * BATCH], lat[POINTS * BATCH];
};

/* Sets the position of the highest value of fitted rows; for a Gaussian it is its centre. */
static enum srcfind_status fill_highest(struct wcs *wcs, int n, const struct pixel_shape *shapes,
                                        struct batch *b, struct srcfind_source *rows,
                                        struct error *error) {
    int row[BATCH], n_points = 0;
    for (int i = 0; i < n; i++) {
        if (isnan(shapes[i].x_highest))
            continue;
        rows[i].lon_max = rows[i].lon;
        rows[i].lat_max = rows[i].lat;
        if (shapes[i].x_highest == rows[i].x && shapes[i].y_highest == rows[i].y)
            continue;
        row[n_points] = i;
        b->x[n_points] = shapes[i].x_highest;
        b->y[n_points++] = shapes[i].y_highest;
    }
    const enum srcfind_status status =
        n_points > 0 ? wcs_positions(wcs, n_points, b->x, b->y, b->lon, b->lat, error) : SRCFIND_OK;
    for (int i = 0; status == SRCFIND_OK && i < n_points; i++) {
        rows[row[i]].lon_max = b->lon[i];
        rows[row[i]].lat_max = b->lat[i];
    }
    return status;
}

static enum srcfind_status fill_batch(struct wcs *wcs, const struct srcfind_image *image,
                                      const struct psf *psf, int n,
                                      const struct pixel_shape *shapes, struct batch *b,
                                      struct srcfind_source *rows, struct error *error) {
    const double step = jacobian_step(image);
    for (int i = 0; i < n; i++)
        jacobian_points(rows[i].x, rows[i].y, step, b->x + POINTS * i, b->y + POINTS * i);
    const enum srcfind_status status =
        wcs_positions(wcs, POINTS * n, b->x, b->y, b->lon, b->lat, error);
    for (int i = 0; status == SRCFIND_OK && i < n; i++) {
        const struct tensor beam = psf_at(psf, rows[i].x, rows[i].y);
        fill_row(image, b->lon + POINTS * i, b->lat + POINTS * i, step, &beam, &shapes[i],
                 &rows[i]);
    }
    return status == SRCFIND_OK ? fill_highest(wcs, n, shapes, b, rows, error) : status;
}

enum srcfind_status world_columns_fill(struct wcs *wcs, const struct srcfind_image *image,
                                       const struct psf *psf, int64_t n,
                                       const struct pixel_shape *shapes,
                                       struct srcfind_source *rows, struct error *error) {
    struct batch *batch = malloc(sizeof *batch);
    enum srcfind_status status = SRCFIND_OK;
    if (!batch)
        return error_memory(error, "computing sky coordinates");
    for (int64_t i = 0; status == SRCFIND_OK && i < n; i += BATCH)
        status = fill_batch(wcs, image, psf, (int)(n - i < BATCH ? n - i : BATCH), shapes + i,
                            batch, rows + i, error);
    free(batch);
    return status;
}
