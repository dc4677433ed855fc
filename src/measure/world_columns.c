#include "measure/world_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/jacobian.h"

enum { BATCH = 256, POINTS = JACOBIAN_POINTS };

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

/* --- size and errors --- */

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
    const struct jacobian j = jacobian_of(lon, lat, step);
    const struct tensor position = jacobian_apply(&j, &shape->position);
    const struct tensor second = jacobian_apply(&j, &shape->second);
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
    const double step = jacobian_step(image), dx[POINTS] = {0, step, 0}, dy[POINTS] = {0, 0, step};
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
