#include "output/picture/marks.h"

#include <math.h>
#include <stdlib.h>

#include "measure/jacobian.h"

/* --- ellipses --- */

/* An ellipse in pixels of the image: semi-axes, and the angle of the major axis from x towards y.
 */
struct mark {
    double x, y, major, minor, angle; /* the angle in radians */
};

/* Sets the shape of a mark from that of the sky. False where it is not known. */
static bool shape_mark(const struct jacobian *to_pixels, double major, double minor, double angle,
                       struct mark *mark) {
    const struct tensor sky = jacobian_ellipse(major / 2, minor / 2, isfinite(angle) ? angle : 0);
    const struct tensor shape = jacobian_apply(to_pixels, &sky);
    const struct axes axes = tensor_axes(&shape);
    mark->major = sqrt(axes.major);
    mark->minor = sqrt(fmax(axes.minor, 0));
    mark->angle = atan2(axes.sine, axes.cosine) / 2;
    return isfinite(mark->major);
}

/* Traces the ellipse, whose semi-axes are at least `least` pixels of the picture. */
static void trace(const struct view *v, const struct mark *mark, double least) {
    const struct cairo *c = v->cairo;
    c->cairo_save(v->sheet);
    c->cairo_translate(v->sheet, view_x(v, mark->x), view_y(v, mark->y));
    c->cairo_rotate(v->sheet, -mark->angle);
    c->cairo_scale(v->sheet, fmax(mark->major * v->scale, least),
                   fmax(mark->minor * v->scale, least));
    c->cairo_arc(v->sheet, 0, 0, 1, 0, 2 * M_PI);
    c->cairo_restore(v->sheet); /* so that the line has the same width all round */
}

/* A light line below that of the ellipse, which is then seen on dark pixels, too. */
static void draw_halo(const struct view *v) {
    const struct cairo *c = v->cairo;
    c->cairo_set_line_width(v->sheet, 2.4);
    c->cairo_set_source_rgb(v->sheet, 1, 1, 1);
    c->cairo_stroke_preserve(v->sheet);
    c->cairo_set_line_width(v->sheet, 1.2);
}

/* The Jacobian from the sky to pixels at a point. */
static enum srcfind_status jacobian_to_pixels(struct wcs *wcs, const struct srcfind_image *image,
                                              double x, double y, struct jacobian *to_pixels,
                                              struct error *error) {
    struct jacobian to_sky;
    const enum srcfind_status status = jacobian_at(wcs, image, x, y, &to_sky, error);
    if (status == SRCFIND_OK)
        *to_pixels = jacobian_inverse(&to_sky);
    return status;
}

/* --- sources --- */

/* An ellipse around the pixels of a source; around its position if it has none. */
static struct mark mark_box(const struct srcfind_source *s) {
    if (s->x_min == SRCFIND_EMPTY)
        return (struct mark){s->x, s->y, M_SQRT1_2, M_SQRT1_2, 0};
    const double width = (double)(s->x_max - s->x_min + 1),
                 height = (double)(s->y_max - s->y_min + 1);
    const bool is_high = height > width;
    return (struct mark){(double)(s->x_min + s->x_max) / 2, (double)(s->y_min + s->y_max) / 2,
                         fmax(width, height) / M_SQRT2, fmin(width, height) / M_SQRT2,
                         is_high ? M_PI / 2 : 0};
}

/* Sets the ellipse of a source: by its own shape, the beam's, or its pixels. */
static enum srcfind_status mark_of_source(struct wcs *wcs, const struct srcfind_image *image,
                                          const struct srcfind_source *s, struct mark *mark,
                                          struct error *error) {
    const bool has_shape = isfinite(s->major) && isfinite(s->minor);
    const double major = has_shape ? s->major : image->beam.major;
    const double minor = has_shape ? s->minor : image->beam.minor;
    const double angle = has_shape ? s->angle : image->beam.angle;
    struct jacobian to_pixels;
    double x = s->x, y = s->y;
    *mark = mark_box(s);
    if (!wcs || !isfinite(s->lon))
        return SRCFIND_OK;
    if (!has_shape)
        wcs_reference_pixel(wcs, &x, &y); /* where the beam is defined */
    const enum srcfind_status status = jacobian_to_pixels(wcs, image, x, y, &to_pixels, error);
    struct mark shaped = {.x = s->x, .y = s->y};
    if (status == SRCFIND_OK && shape_mark(&to_pixels, 2 * major, 2 * minor, angle, &shaped))
        *mark = shaped;
    return status;
}

static enum srcfind_status draw_source(const struct view *v, struct wcs *wcs,
                                       const struct srcfind_image *image,
                                       const struct srcfind_source *s, struct error *error) {
    enum { LEAST = 4 };
    struct mark mark;
    const enum srcfind_status status = mark_of_source(wcs, image, s, &mark, error);
    if (status != SRCFIND_OK)
        return status;
    trace(v, &mark, LEAST);
    draw_halo(v);
    if (s->flags & SRCFIND_FLAG_NEGATIVE)
        v->cairo->cairo_set_source_rgb(v->sheet, 0.1, 0.35, 0.85);
    else
        v->cairo->cairo_set_source_rgb(v->sheet, 0.85, 0.1, 0.1);
    v->cairo->cairo_stroke(v->sheet);
    return SRCFIND_OK;
}

static int by_falling_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Sets *least to the |SNR| from which on sources are marked. False where memory ran out. */
static bool choose_marks(const struct srcfind_catalogue *c, double *least) {
    *least = 0;
    if (c->n_sources <= MOST_MARKS)
        return true;
    double *snr = malloc((size_t)c->n_sources * sizeof *snr);
    if (!snr)
        return false;
    for (int64_t i = 0; i < c->n_sources; i++)
        snr[i] = fmax(fabs(c->sources[i].snr), 0); /* 0 for NaN, which has no order */
    qsort(snr, (size_t)c->n_sources, sizeof *snr, by_falling_value);
    *least = snr[MOST_MARKS - 1];
    free(snr);
    return true;
}

enum srcfind_status marks_draw_sources(const struct view *v, struct wcs *wcs,
                                       const struct srcfind_catalogue *catalogue,
                                       struct error *error) {
    double least;
    enum srcfind_status status = SRCFIND_OK;
    if (!choose_marks(catalogue, &least))
        return error_memory(error, "drawing a picture");
    for (int64_t i = 0; status == SRCFIND_OK && i < catalogue->n_sources; i++) {
        const struct srcfind_source *s = &catalogue->sources[i];
        if (!(fabs(s->snr) < least) && !(s->flags & SRCFIND_FLAG_OUTSIDE))
            status = draw_source(v, wcs, &catalogue->image, s, error);
    }
    return status;
}

/* --- the beam --- */

/* A white square behind the beam. */
static void draw_box(const struct view *v, const struct mark *mark, double radius) {
    const struct cairo *c = v->cairo;
    c->cairo_rectangle(v->sheet, view_x(v, mark->x) - radius, view_y(v, mark->y) - radius,
                       2 * radius, 2 * radius);
    c->cairo_set_source_rgb(v->sheet, 1, 1, 1);
    c->cairo_fill_preserve(v->sheet);
    c->cairo_set_source_rgb(v->sheet, 0, 0, 0);
    c->cairo_stroke(v->sheet);
}

enum srcfind_status marks_draw_beam(const struct view *v, struct wcs *wcs,
                                    const struct srcfind_image *image, struct error *error) {
    enum { GAP = 6 }; /* between the beam and its box, and between the box and the frame */
    const struct cairo *c = v->cairo;
    struct mark mark;
    struct jacobian to_pixels;
    double x, y;
    if (!wcs || !isfinite(image->beam.major))
        return SRCFIND_OK;
    wcs_reference_pixel(wcs, &x, &y); /* where the beam is defined; in pixels it is constant */
    const enum srcfind_status status = jacobian_to_pixels(wcs, image, x, y, &to_pixels, error);
    if (status != SRCFIND_OK ||
        !shape_mark(&to_pixels, image->beam.major, image->beam.minor, image->beam.angle, &mark))
        return status;
    const double radius = fmax(mark.major * v->scale, 1) + GAP;
    mark.x = (GAP + radius) / v->scale - 0.5;
    mark.y = mark.x;
    c->cairo_set_line_width(v->sheet, 1);
    c->cairo_set_source_rgb(v->sheet, 0, 0, 0);
    if (2 * radius < fmin(v->width, v->height) / 3) {
        draw_box(v, &mark, radius);
        trace(v, &mark, 1);
        c->cairo_fill(v->sheet);
    } else { /* it would hide the map */
        trace(v, &mark, 1);
        c->cairo_stroke(v->sheet);
    }
    return SRCFIND_OK;
}
