/* How ticks are found along an edge:
 *
 * 1. The coordinate is computed at 257 points of the edge, and followed through whole turns.
 * 2. A round step gives about as many ticks as are wanted: of seconds, minutes or hours or degrees.
 * 3. Between two points, bisection finds where the coordinate has each multiple of the step.
 * 4. If fewer than two ticks are found, or all in a quarter of the edge, pixels are numbered
 *    instead.
 *
 * A tick is exact to 2^-40 of the distance of two points; points that are not on the sky have no
 * ticks beside them. Costs 257 conversions by WCSLIB, and 40 for each tick. */
#include "output/picture/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/format_double.h"

/* --- round values and their labels --- */

/* The units of a coordinate. */
struct scale {
    double per_degree; /* seconds of time or of arc; or 1 */
    bool is_sexagesimal, has_sign;
    double turn; /* a full circle, after which values begin again; 0 if they do not */
    const char *units[3];
};

static const struct scale hours = {240, true, false, 86400, {"h", "m", "s"}};
static const struct scale arcs = {3600, true, true, 0, {"\u00b0", "\u2032", "\u2033"}};
static const struct scale longitudes = {1, false, false, 360, {"\u00b0"}};
static const struct scale latitudes = {1, false, true, 0, {"\u00b0"}};
static const struct scale pixels = {1, false, false, 0, {""}};

static const struct scale *scale_of(const struct srcfind_image *image, enum coordinate coordinate) {
    const bool is_equatorial = strcmp(image->lon_name, "RA") == 0;
    if (coordinate == COORDINATE_PIXEL)
        return &pixels;
    if (coordinate == COORDINATE_LON)
        return is_equatorial ? &hours : &longitudes;
    return is_equatorial ? &arcs : &latitudes;
}

/* The smallest round step that is not below `least`. */
static double round_step(const struct scale *scale, double least) {
    static const double seconds[] = {1,     2,     5,     10,     20,    30,   60,
                                     120,   300,   600,   1200,   1800,  3600, 7200,
                                     10800, 21600, 43200, 108000, 324000};
    for (size_t i = 0; scale->is_sexagesimal && least > 0.5 && i < sizeof seconds / sizeof *seconds;
         i++)
        if (seconds[i] >= least)
            return seconds[i];
    const double decade = pow(10, floor(log10(least)));
    for (int digit = 1; digit < 10; digit = digit == 2 ? 5 : 2 * digit)
        if (digit * decade >= least)
            return digit * decade;
    return 10 * decade;
}

/* Digits after the point that a step needs. */
static int decimals_of(double step) {
    int n = 0;
    for (; n < 9 && fabs(step - nearbyint(step)) > 1e-6; n++)
        step *= 10;
    return n;
}

/* Writes hours or degrees, minutes and seconds, as far as the step needs them. */
static void label_sexagesimal(const struct scale *scale, double value, double step, char *label) {
    const int decimals = decimals_of(step), width = decimals > 0 ? decimals + 3 : 2;
    const double whole = pow(10, decimals), parts = nearbyint(value * whole);
    const double minutes = floor(parts / whole / 60),
                 seconds = (parts - minutes * 60 * whole) / whole;
    int n = snprintf(label, TICK_LABEL, "%02.0f%s", floor(minutes / 60), scale->units[0]);
    if (fmod(step, 3600) != 0)
        n += snprintf(label + n, (size_t)(TICK_LABEL - n), "%02.0f%s", fmod(minutes, 60),
                      scale->units[1]);
    if (fmod(step, 60) != 0)
        snprintf(label + n, (size_t)(TICK_LABEL - n), "%0*.*f%s", width, decimals, seconds,
                 scale->units[2]);
}

/* The label of the multiple m of a step. */
static void make_label(const struct scale *scale, double m, double step, char *label) {
    double value = m * step;
    if (scale->turn > 0)
        value -= scale->turn * floor(value / scale->turn + 1e-9);
    const int n =
        scale->has_sign ? snprintf(label, TICK_LABEL, "%s", value < 0 ? "\u2212" : "+") : 0;
    if (scale->is_sexagesimal)
        label_sexagesimal(scale, fabs(value), step, label + n);
    else
        snprintf(label + n, (size_t)(TICK_LABEL - n), "%.*f%s", decimals_of(step), fabs(value),
                 scale->units[0]);
    format_point(label);
}

/* --- the coordinate along an edge --- */

enum { SAMPLES = 257, BISECTIONS = 40 };

struct course {
    struct wcs *wcs;
    const struct edge *edge;
    enum coordinate coordinate;
    const struct scale *scale;
    double first;                        /* the number of the first pixel */
    double at[SAMPLES], values[SAMPLES]; /* NaN off the sky; without a jump where a turn ends */
};

/* The coordinate at n points of the edge, in the units of the scale. */
static enum srcfind_status values_at(const struct course *c, int n, const double *at,
                                     double *values, struct error *error) {
    double off[SAMPLES], lon[SAMPLES], lat[SAMPLES];
    enum srcfind_status status = SRCFIND_OK;
    for (int i = 0; i < n; i++)
        off[i] = -0.5;
    if (c->coordinate != COORDINATE_PIXEL)
        status = c->edge->is_vertical ? wcs_positions(c->wcs, n, off, at, lon, lat, error)
                                      : wcs_positions(c->wcs, n, at, off, lon, lat, error);
    for (int i = 0; status == SRCFIND_OK && i < n; i++)
        values[i] = c->scale->per_degree * (c->coordinate == COORDINATE_PIXEL ? c->first + at[i]
                                            : c->coordinate == COORDINATE_LON ? lon[i]
                                            : fabs(lat[i]) <= 90              ? lat[i]
                                                                              : NAN);
    return status;
}

/* Moves a value by whole turns to the one nearest to `near`. */
static double unwind(const struct scale *scale, double value, double near) {
    return scale->turn > 0 && isfinite(near)
               ? value + scale->turn * nearbyint((near - value) / scale->turn)
               : value;
}

static enum srcfind_status follow_edge(struct course *c, struct error *error) {
    for (int i = 0; i < SAMPLES; i++)
        c->at[i] = -0.5 + (double)c->edge->length * i / (SAMPLES - 1);
    const enum srcfind_status status = values_at(c, SAMPLES, c->at, c->values, error);
    double last = NAN;
    for (int i = 0; status == SRCFIND_OK && i < SAMPLES; i++) {
        c->values[i] = unwind(c->scale, c->values[i], last);
        last = isfinite(c->values[i]) ? c->values[i] : last;
    }
    return status;
}

/* Sets *at to the point between the samples i and i + 1 where the coordinate has a value. */
static enum srcfind_status find_crossing(const struct course *c, int i, double value, double *at,
                                         struct error *error) {
    double low = c->at[i], high = c->at[i + 1], found;
    enum srcfind_status status = SRCFIND_OK;
    for (int k = 0; status == SRCFIND_OK && k < BISECTIONS; k++) {
        *at = (low + high) / 2;
        status = values_at(c, 1, at, &found, error);
        found = unwind(c->scale, found, value);
        if ((found < value) == (c->values[i] < c->values[i + 1]))
            low = *at;
        else
            high = *at;
    }
    return status;
}

/* Adds the ticks between the samples i and i + 1. */
static enum srcfind_status add_ticks(const struct course *c, int i, double step,
                                     struct ticks *ticks, struct error *error) {
    const double low = fmin(c->values[i], c->values[i + 1]);
    const double high = fmax(c->values[i], c->values[i + 1]);
    const bool is_jump = c->scale->turn > 0 && high - low > c->scale->turn / 4;
    enum srcfind_status status = SRCFIND_OK;
    for (double m = ceil(low / step);
         status == SRCFIND_OK && !is_jump && ticks->n < MOST_TICKS && m * step < high; m++) {
        struct tick *tick = &ticks->ticks[ticks->n++];
        make_label(c->scale, m, step, tick->label);
        status = find_crossing(c, i, m * step, &tick->at, error);
    }
    return status;
}

/* Adds the multiples of a step. */
static enum srcfind_status add_multiples(const struct course *c, double step, struct ticks *ticks,
                                         struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    ticks->n = 0;
    for (int i = 0; status == SRCFIND_OK && i < SAMPLES - 1; i++)
        if (isfinite(c->values[i]) && isfinite(c->values[i + 1]))
            status = add_ticks(c, i, step, ticks, error);
    return status;
}

/* Finds the ticks of a coordinate. A step of a third of the range may have only one multiple in the
 * range: smaller steps are tried then. */
static enum srcfind_status find_ticks(struct course *c, int most, struct ticks *ticks,
                                      struct error *error) {
    const double least_step = c->coordinate == COORDINATE_PIXEL ? 1 : 0;
    double low = INFINITY, high = -INFINITY;
    enum srcfind_status status = follow_edge(c, error);
    for (int i = 0; status == SRCFIND_OK && i < SAMPLES; i++) {
        low = fmin(low, c->values[i]); /* fmin and fmax skip NaN */
        high = fmax(high, c->values[i]);
    }
    *ticks = (struct ticks){.coordinate = c->coordinate};
    for (int n = most; status == SRCFIND_OK && high > low && ticks->n < 2 && n <= 4 * most; n *= 2)
        status = add_multiples(c, round_step(c->scale, fmax((high - low) / n, least_step)), ticks,
                               error);
    return status;
}

/* Whether there are at least two ticks, spread over a quarter of the edge or more. Ticks crowd
 * where the edge passes a pole, or touches a map of the whole sky. */
static bool are_spread(const struct ticks *ticks, const struct edge *edge) {
    double first = INFINITY, last = -INFINITY;
    for (int i = 0; i < ticks->n; i++) {
        first = fmin(first, ticks->ticks[i].at);
        last = fmax(last, ticks->ticks[i].at);
    }
    return ticks->n >= 2 && last - first >= (double)edge->length / 4;
}

enum srcfind_status ticks_find(struct wcs *wcs, const struct srcfind_image *image,
                               const struct edge *edge, enum coordinate coordinate, int most,
                               struct ticks *ticks, struct error *error) {
    struct course c = {.wcs = wcs,
                       .edge = edge,
                       .coordinate = coordinate,
                       .first = (double)(edge->is_vertical ? image->first_y : image->first_x)};
    enum srcfind_status status = SRCFIND_OK;
    ticks->n = 0;
    if (wcs) {
        c.scale = scale_of(image, coordinate);
        status = find_ticks(&c, most, ticks, error);
    }
    if (status == SRCFIND_OK && !are_spread(ticks, edge)) {
        c.coordinate = COORDINATE_PIXEL;
        c.scale = &pixels;
        status = find_ticks(&c, most, ticks, error);
    }
    return status;
}
