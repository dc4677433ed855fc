#include "output/picture/angle_bar.h"

#include <math.h>
#include <stdio.h>

#include "common/format_double.h"

static const double RADIANS = M_PI / 180, ARCSEC = 1 / 3600.0; /* of a degree */

/* --- round angles --- */

enum { FONT = 13, EDGE = 6, PAD = 6, RISE = 4, HEIGHT = FONT + RISE + 2 * PAD };

double angle_bar_round(double most) {
    static const double arcsec[] = {1,   2,    5,    10,   20,   30,    60,    120,   300,
                                    600, 1200, 1800, 3600, 7200, 18000, 36000, 72000, 108000};
    const double wanted = most / ARCSEC * (1 + 1e-9);
    double found = 0;
    for (size_t i = 0; i < sizeof arcsec / sizeof *arcsec && arcsec[i] <= wanted; i++)
        found = arcsec[i];
    if (found > 0)
        return found * ARCSEC;
    const double decade = pow(10, floor(log10(wanted)));
    const double digits = wanted / decade;
    return (digits >= 5 ? 5 : digits >= 2 ? 2 : 1) * decade * ARCSEC;
}

void angle_bar_label(double angle, char label[ANGLE_LABEL]) {
    static const double MAS = ARCSEC / 1000;
    static const struct {
        double degrees;
        const char *text;
    } units[] = {{1, "\u00b0"}, {60 * ARCSEC, "\u2032"}, {ARCSEC / 10, "\u2033"}, {MAS, " mas"}};
    enum { UNITS = sizeof units / sizeof *units };
    int i = 0;
    while (i < UNITS - 1 && angle < units[i].degrees * (1 - 1e-9))
        i++;
    const double one = i == 2 ? ARCSEC : units[i].degrees;
    char digits[ANGLE_LABEL];
    snprintf(digits, sizeof digits, "%.6g", angle / one);
    snprintf(label, ANGLE_LABEL, "%.12s%s", format_point(digits), units[i].text);
}

/* --- the length of the bar --- */

/* A horizontal line on the sheet from a point, to the right (way: 1) or to the left (-1). */
struct line {
    double x, y, length;
    int way;
};

/* The angle between the ends of a line, in degrees; NaN off the sky. */
static enum srcfind_status angle_of(struct wcs *wcs, const struct canvas *v, const struct line *l,
                                    double *angle, struct error *error) {
    double x[2], y[2], lon[2], lat[2];
    for (int i = 0; i < 2; i++) {
        x[i] = (l->x + i * l->way * l->length - v->left) / v->scale - 0.5;
        y[i] = (v->top + v->height - l->y) / v->scale - 0.5;
    }
    const enum srcfind_status status = wcs_positions(wcs, 2, x, y, lon, lat, error);
    if (status != SRCFIND_OK)
        return status;
    const double up = sin((lat[1] - lat[0]) / 2 * RADIANS);
    const double across = sin((lon[1] - lon[0]) / 2 * RADIANS);
    const double square = up * up + cos(lat[0] * RADIANS) * cos(lat[1] * RADIANS) * across * across;
    const bool is_sky = fabs(lat[0]) <= 90 && fabs(lat[1]) <= 90;
    *angle = is_sky ? 2 * asin(sqrt(fmin(square, 1))) / RADIANS : NAN;
    return SRCFIND_OK;
}

/* Sets the angle of a bar to the round one that is at most as long as a line, and makes the line as
 * long as this angle. *is_found: it is so within a hundredth. */
static enum srcfind_status fit_line(struct wcs *wcs, const struct canvas *v, struct line *l,
                                    double *angle, bool *is_found, struct error *error) {
    enum { STEPS = 8 };
    const double most = l->length;
    double found;
    enum srcfind_status status = angle_of(wcs, v, l, &found, error);
    *is_found = false;
    if (status != SRCFIND_OK || !(found > 0))
        return status;
    *angle = angle_bar_round(found);
    for (int i = 0; status == SRCFIND_OK && i < STEPS && found > 0 && !*is_found; i++) {
        l->length *= *angle / found;
        status = l->length <= 1.2 * most ? angle_of(wcs, v, l, &found, error) : SRCFIND_OK;
        *is_found = l->length <= 1.2 * most && fabs(found / *angle - 1) < 0.01;
    }
    return status;
}

/* --- corners --- */

static double width_of(const struct canvas *v, const char *label) {
    cairo_text_extents_t extents;
    v->cairo->cairo_text_extents(v->sheet, label, &extents);
    return extents.x_advance;
}

/* Makes the bar of a corner: 0 is lower left, 3 upper right. */
static enum srcfind_status make_in_corner(struct angle_bar *bar, int corner, const struct canvas *v,
                                          struct wcs *wcs, struct error *error) {
    const bool is_right = corner % 2;
    const double y = corner < 2 ? v->top + v->height - EDGE - PAD : v->top + EDGE + HEIGHT - PAD;
    const double x = is_right ? v->left + v->width - EDGE - PAD : v->left + EDGE + PAD;
    struct line line = {x, y, v->width / 4, is_right ? -1 : 1};
    *bar = (struct angle_bar){0};
    const enum srcfind_status status = fit_line(wcs, v, &line, &bar->angle, &bar->is_there, error);
    if (status != SRCFIND_OK || !bar->is_there)
        return status;
    angle_bar_label(bar->angle, bar->label);
    bar->length = line.length;
    const double width = fmax(bar->length, width_of(v, bar->label)) + 2 * PAD;
    const double left = is_right ? x + PAD - width : x - PAD;
    bar->box = (struct box){left, y - HEIGHT + PAD, left + width, y + PAD};
    bar->is_there = 2 * width < v->width && 3 * HEIGHT < v->height;
    return status;
}

enum srcfind_status angle_bar_make(struct angle_bar *bar, const struct marks *marks,
                                   const struct beam_mark *beam, const struct canvas *v,
                                   struct wcs *wcs, struct error *error) {
    static const int corners[] = {1, 0, 3, 2};
    enum { CORNERS = sizeof corners / sizeof *corners };
    enum srcfind_status status = SRCFIND_OK;
    int64_t fewest = INT64_MAX;
    *bar = (struct angle_bar){0};
    v->cairo->cairo_set_font_size(v->sheet, FONT);
    for (int i = 0; wcs && status == SRCFIND_OK && i < CORNERS; i++) {
        struct angle_bar other;
        status = make_in_corner(&other, corners[i], v, wcs, error);
        if (status != SRCFIND_OK || !other.is_there ||
            (beam->has_box && boxes_overlap(&other.box, &beam->box)))
            continue;
        const int64_t n = marks_count_touched(marks, &other.box);
        if (n < fewest) {
            fewest = n;
            *bar = other;
        }
    }
    return status;
}

void angle_bar_draw(const struct angle_bar *bar, const struct canvas *v) {
    const struct cairo *c = v->cairo;
    if (!bar->is_there)
        return;
    const double middle = (bar->box.left + bar->box.right) / 2, half = bar->length / 2;
    const double y = floor(bar->box.bottom - PAD) + 0.5;
    canvas_draw_box(v, &bar->box);
    c->cairo_set_font_size(v->sheet, FONT);
    c->cairo_set_source_rgb(v->sheet, 0, 0, 0);
    c->cairo_move_to(v->sheet, middle - width_of(v, bar->label) / 2, y - RISE - 2);
    c->cairo_show_text(v->sheet, bar->label);
    c->cairo_set_line_width(v->sheet, 2);
    c->cairo_move_to(v->sheet, middle - half, y);
    c->cairo_line_to(v->sheet, middle + half, y);
    for (int way = -1; way <= 1; way += 2) {
        c->cairo_move_to(v->sheet, middle + way * half, y - RISE);
        c->cairo_line_to(v->sheet, middle + way * half, y + RISE);
    }
    c->cairo_stroke(v->sheet);
}
