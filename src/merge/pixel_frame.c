#include "merge/pixel_frame.h"

#include <math.h>
#include <string.h>

static const double DEGREE = M_PI / 180;

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

bool pixel_frame_position(const struct srcfind_source *row, double position[3]) {
    if (!isfinite(row->lon) || !isfinite(row->lat))
        return false;
    const double lon = row->lon * DEGREE, lat = row->lat * DEGREE;
    position[0] = cos(lat) * cos(lon);
    position[1] = cos(lat) * sin(lon);
    position[2] = sin(lat);
    return true;
}

void pixel_frame_directions(double lon, double lat, double north[3], double east[3]) {
    const double l = lon * DEGREE, b = lat * DEGREE;
    memcpy(north, (double[3]){-sin(b) * cos(l), -sin(b) * sin(l), cos(b)}, 3 * sizeof *north);
    memcpy(east, (double[3]){-sin(l), cos(l), 0}, 3 * sizeof *east);
}

void pixel_sums_add(struct pixel_sums *s, const struct srcfind_source *row) {
    double at[3];
    if (!isfinite(row->x) || !isfinite(row->y) || !pixel_frame_position(row, at))
        return;
    if (s->n++ == 0) {
        s->origin_x = row->x;
        s->origin_y = row->y;
        memcpy(s->origin, at, sizeof at);
    }
    const double x = row->x - s->origin_x, y = row->y - s->origin_y;
    s->x += x;
    s->y += y;
    s->xx += x * x;
    s->xy += x * y;
    s->yy += y * y;
    for (int k = 0; k < 3; k++) {
        const double step = at[k] - s->origin[k];
        s->at[k] += step;
        s->x_at[k] += x * step;
        s->y_at[k] += y * step;
    }
}

/* Fits by least squares about the mean. Rows count as lying on a line if they spread ten times less
 * across it than along it, or less still: curvature of the projection would then decide the
 * direction across. */
bool pixel_frame_fit(const struct pixel_sums *s, struct pixel_frame *frame) {
    enum { LINE = 100 };
    const double n = (double)s->n;
    if (s->n < 3)
        return false;
    const double xx = s->xx - s->x * s->x / n, yy = s->yy - s->y * s->y / n;
    const double xy = s->xy - s->x * s->y / n, determinant = xx * yy - xy * xy;
    if (!(LINE * determinant > (xx + yy) * (xx + yy)))
        return false;
    for (int k = 0; k < 3; k++) {
        const double x = s->x_at[k] - s->x * s->at[k] / n, y = s->y_at[k] - s->y * s->at[k] / n;
        frame->x[k] = (x * yy - y * xy) / determinant;
        frame->y[k] = (y * xx - x * xy) / determinant;
    }
    const double size = pixel_frame_size(frame);
    return isfinite(size) && size > 0;
}

/* Guesses the size of a pixel from the errors of a position in pixels and on the sky: the trace of
 * their covariance does not depend on the direction of the axes. */
bool pixel_frame_guess(const struct srcfind_source *row, struct pixel_frame *frame) {
    const double size = DEGREE * hypot(row->e_lon, row->e_lat) / hypot(row->e_x, row->e_y);
    double north[3], east[3];
    pixel_frame_directions(row->lon, row->lat, north, east);
    for (int k = 0; k < 3; k++) {
        frame->x[k] = -size * east[k];
        frame->y[k] = size * north[k];
    }
    return isfinite(size) && size > 0 && isfinite(row->lon) && isfinite(row->lat);
}

void pixel_frame_move(const struct pixel_frame *frame, double x, double y, double position[3]) {
    for (int k = 0; k < 3; k++)
        position[k] += x * frame->x[k] + y * frame->y[k];
}

void pixel_frame_pixels(const struct pixel_frame *frame, const double difference[3], double *x,
                        double *y) {
    const double xx = dot(frame->x, frame->x), yy = dot(frame->y, frame->y);
    const double xy = dot(frame->x, frame->y), determinant = xx * yy - xy * xy;
    const double along_x = dot(frame->x, difference), along_y = dot(frame->y, difference);
    *x = (along_x * yy - along_y * xy) / determinant;
    *y = (along_y * xx - along_x * xy) / determinant;
}

double pixel_frame_size(const struct pixel_frame *frame) {
    const double xx = dot(frame->x, frame->x), yy = dot(frame->y, frame->y);
    const double xy = dot(frame->x, frame->y);
    return sqrt(sqrt(xx * yy - xy * xy));
}
