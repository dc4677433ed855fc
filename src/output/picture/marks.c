/* How ellipses are made and drawn:
 *
 * 1. Each source gets an ellipse with axes twice its FWHM, on the sky by the Jacobian at its
 *    position; without a shape the beam's, without sky coordinates one around its pixels.
 * 2. It is moved to the sheet, and made at least 4 pixels large. Gaussians of a source of several
 *    follow their source.
 * 3. The beam's ellipse goes to the corner whose box touches the fewest ellipses.
 * 4. Each ellipse is drawn twice, a wide white line below a coloured one.
 *
 * Marks are always in the order of the rows, and sources stay in the result: a mark points to its
 * row. Of more than 5000 sources those of highest |SNR| are marked. No pixel is read. */
#include "output/picture/marks.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "measure/jacobian.h"

/* --- ellipses --- */

/* Sets semi-axes, in pixels of the image, and angle from the axes and the angle of a shape on the
 * sky. False if they are not known. */
static bool shape_outline(const struct jacobian *to_pixels, double major, double minor,
                          double angle, struct outline *outline) {
    const struct tensor sky = jacobian_ellipse(major / 2, minor / 2, isfinite(angle) ? angle : 0);
    const struct tensor shape = jacobian_apply(to_pixels, &sky);
    const struct axes axes = tensor_axes(&shape);
    outline->major = sqrt(axes.major);
    outline->minor = sqrt(fmax(axes.minor, 0));
    outline->angle = atan2(axes.sine, axes.cosine) / 2;
    return isfinite(outline->major);
}

/* Turns an ellipse in pixels of the image to one on the sheet. Its semi-axes are at least `least`,
 * and at most some sheets long, which looks the same on the sheet. */
static struct outline on_sheet(const struct canvas *v, const struct outline *o, double least) {
    const double most = 4 * (v->width + v->height);
    return (struct outline){canvas_x(v, o->x), canvas_y(v, o->y),
                            fmin(fmax(o->major * v->scale, least), most),
                            fmin(fmax(o->minor * v->scale, least), most), o->angle};
}

static void trace(const struct canvas *v, const struct outline *o) {
    const struct cairo *c = v->cairo;
    if (o->minor > v->width + v->height) /* the line is outside of the sheet */
        return;
    c->cairo_save(v->sheet);
    c->cairo_translate(v->sheet, o->x, o->y);
    c->cairo_rotate(v->sheet, -o->angle);
    c->cairo_scale(v->sheet, o->major, o->minor);
    c->cairo_arc(v->sheet, 0, 0, 1, 0, 2 * M_PI);
    c->cairo_restore(v->sheet); /* the line then has one width all round */
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

/* An ellipse around the pixels of a source, or around its position if it has no pixels. */
static struct outline outline_of_pixels(const struct srcfind_source *s) {
    if (s->x_min == SRCFIND_EMPTY)
        return (struct outline){s->x, s->y, M_SQRT1_2, M_SQRT1_2, 0};
    const double width = (double)(s->x_max - s->x_min + 1),
                 height = (double)(s->y_max - s->y_min + 1);
    const bool is_high = height > width;
    return (struct outline){(double)(s->x_min + s->x_max) / 2, (double)(s->y_min + s->y_max) / 2,
                            fmax(width, height) / M_SQRT2, fmin(width, height) / M_SQRT2,
                            is_high ? M_PI / 2 : 0};
}

/* Sets the ellipse of a source in pixels of the image: from its shape, from the beam, or from its
 * pixels. *kind says which. */
static enum srcfind_status outline_of_source(struct wcs *wcs, const struct srcfind_image *image,
                                             const struct srcfind_source *s,
                                             struct outline *outline, unsigned *kind,
                                             struct error *error) {
    const bool has_shape = isfinite(s->major) && isfinite(s->minor);
    const double major = has_shape ? s->major : image->beam.major;
    const double minor = has_shape ? s->minor : image->beam.minor;
    const double angle = has_shape ? s->angle : image->beam.angle;
    struct jacobian to_pixels;
    double x = s->x, y = s->y;
    *outline = outline_of_pixels(s);
    *kind = MARK_PIXELS;
    if (!wcs || !isfinite(s->lon))
        return SRCFIND_OK;
    if (!has_shape)
        wcs_reference_pixel(wcs, &x, &y); /* where the beam is defined */
    const enum srcfind_status status = jacobian_to_pixels(wcs, image, x, y, &to_pixels, error);
    struct outline shaped = {.x = s->x, .y = s->y};
    if (status == SRCFIND_OK && shape_outline(&to_pixels, 2 * major, 2 * minor, angle, &shaped)) {
        *outline = shaped;
        *kind = has_shape ? MARK_FWHM : MARK_BEAM;
    }
    return status;
}

const struct colour marks_red = {0.85, 0.1, 0.1}, marks_blue = {0.1, 0.35, 0.85};
const struct colour marks_of_scales[MARK_SCALE_COLOURS] = {
    {0.95, 0.55, 0}, {0, 0.6, 0.2}, {0.6, 0.15, 0.75}};

/* The index of the scale of a source; n where it is of none. */
static int scale_of(const struct scales_option *scales, const struct srcfind_source *s) {
    int i = 0;
    while (i < scales->n && scales->fwhm[i] != s->scale)
        i++;
    return i;
}

/* The colour of a source: blue for a negative one, one of three for a source of a scale, else red.
 */
static const struct colour *colour_of(const struct result *r, const struct srcfind_source *s) {
    const int i = scale_of(&r->options.scales, s);
    if (s->flags & SRCFIND_FLAG_NEGATIVE)
        return &marks_blue;
    return i < r->options.scales.n ? &marks_of_scales[i % MARK_SCALE_COLOURS] : &marks_red;
}

static enum srcfind_status make_mark(const struct canvas *v, struct wcs *wcs,
                                     const struct result *r, const struct srcfind_source *s,
                                     struct mark *mark, struct error *error) {
    enum { LEAST = 4 };
    struct outline outline;
    const bool has_fit = options_fit(&r->options);
    struct srcfind_source in_part = *s;
    rows_move(&in_part, 1, -r->image.first_x, -r->image.first_y);
    const enum srcfind_status status =
        outline_of_source(wcs, &r->image, &in_part, &outline, &mark->kinds, error);
    if (status != SRCFIND_OK)
        return status;
    mark->source = s;
    mark->outline = on_sheet(v, &outline, LEAST);
    if (mark->kinds == MARK_FWHM && !has_fit)
        mark->kinds = MARK_MOMENTS;
    if (has_fit && s->flags & SRCFIND_FLAG_NOT_FITTED)
        mark->kinds |= MARK_NOT_FITTED;
    if (s->flags & SRCFIND_FLAG_NEGATIVE)
        mark->kinds |= MARK_NEGATIVE;
    else if (s->scale > 0)
        mark->kinds |= MARK_SCALE;
    mark->colour = colour_of(r, s);
    return SRCFIND_OK;
}

/* Makes the ellipse of a Gaussian of a source of several, half as large as it would be for a
 * source: so it lies inside the ellipse of the source. */
static enum srcfind_status make_part(const struct canvas *v, struct wcs *wcs,
                                     const struct result *r, const struct srcfind_source *part,
                                     struct mark *mark, struct error *error) {
    const enum srcfind_status status = make_mark(v, wcs, r, part, mark, error);
    if (status != SRCFIND_OK)
        return status;
    mark->outline.major /= 2;
    mark->outline.minor /= 2;
    mark->kinds = MARK_GAUSSIAN | (mark->kinds & (MARK_NEGATIVE | MARK_SCALE));
    return SRCFIND_OK;
}

static int by_falling_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Sets *least to the lowest |SNR| of the sources that are marked. */
static bool choose_marks(const struct result *r, double *least) {
    *least = 0;
    if (r->sources.n <= MOST_MARKS)
        return true;
    double *snr = malloc((size_t)r->sources.n * sizeof *snr);
    if (!snr)
        return false;
    for (int64_t i = 0; i < r->sources.n; i++)
        snr[i] = fmax(fabs(r->sources.rows[i].snr), 0); /* 0 for NaN, which has no order */
    qsort(snr, (size_t)r->sources.n, sizeof *snr, by_falling_value);
    *least = snr[MOST_MARKS - 1];
    free(snr);
    return true;
}

enum srcfind_status marks_make(struct marks *marks, const struct canvas *v, struct wcs *wcs,
                               const struct result *r, struct error *error) {
    double least;
    int64_t n_parts = 0;
    enum srcfind_status status = SRCFIND_OK;
    *marks = (struct marks){
        .marks = arrays_allocate(r->sources.n + r->sources.n_parts, sizeof *marks->marks)};
    if (!marks->marks || !choose_marks(r, &least))
        return error_memory(error, "drawing a picture");
    for (int64_t i = 0; status == SRCFIND_OK && i < r->sources.n; i++) {
        const struct srcfind_source *s = &r->sources.rows[i], *parts = r->sources.parts + n_parts;
        const int64_t n = s->n_gaussians > 1 ? s->n_gaussians : 0;
        n_parts += n;
        if (fabs(s->snr) < least || s->flags & SRCFIND_FLAG_OUTSIDE)
            continue;
        status = make_mark(v, wcs, r, s, &marks->marks[marks->n++], error);
        for (int64_t k = 0; status == SRCFIND_OK && k < n; k++)
            status = make_part(v, wcs, r, &parts[k], &marks->marks[marks->n++], error);
    }
    return status;
}

void marks_clear(struct marks *marks) {
    free(marks->marks);
}

static void draw_mark(const struct canvas *v, const struct mark *mark) {
    static const double dashes[] = {4, 3};
    const struct cairo *c = v->cairo;
    const double width = mark->kinds & MARK_GAUSSIAN ? 0.6 : 1.2;
    trace(v, &mark->outline);
    c->cairo_set_line_width(v->sheet, 2 * width); /* a white line below, seen on dark pixels */
    c->cairo_set_source_rgb(v->sheet, 1, 1, 1);
    c->cairo_stroke_preserve(v->sheet);
    c->cairo_set_line_width(v->sheet, width);
    c->cairo_set_source_rgb(v->sheet, mark->colour->red, mark->colour->green, mark->colour->blue);
    c->cairo_set_dash(v->sheet, dashes, mark->kinds & MARK_NOT_FITTED ? 2 : 0, 0);
    c->cairo_stroke(v->sheet);
    c->cairo_set_dash(v->sheet, dashes, 0, 0);
}

void marks_draw(const struct marks *marks, const struct canvas *v) {
    for (int64_t i = 0; i < marks->n; i++)
        draw_mark(v, &marks->marks[i]);
}

/* --- the beam --- */

enum { GAP = 6 }; /* between beam and box, and between box and frame */

/* Moves the beam and its box to a corner: 0 is lower left, 3 upper right. */
static void move_beam(struct beam_mark *beam, const struct canvas *v, int corner, double radius) {
    struct outline *o = &beam->outline;
    o->x = corner % 2 ? v->left + v->width - GAP - radius : v->left + GAP + radius;
    o->y = corner < 2 ? v->top + v->height - GAP - radius : v->top + GAP + radius;
    beam->box = (struct box){o->x - radius, o->y - radius, o->x + radius, o->y + radius};
}

int64_t marks_count_touched(const struct marks *marks, const struct box *box) {
    int64_t n = 0;
    for (int64_t i = 0; i < marks->n; i++) {
        const struct box around = outline_box(&marks->marks[i].outline);
        n += boxes_overlap(&around, box);
    }
    return n;
}

enum srcfind_status marks_make_beam(struct beam_mark *beam, const struct marks *marks,
                                    const struct canvas *v, struct wcs *wcs,
                                    const struct srcfind_image *image, struct error *error) {
    enum { CORNERS = 4 };
    struct outline outline = {0};
    struct jacobian to_pixels;
    double x, y;
    *beam = (struct beam_mark){0};
    if (!wcs || !isfinite(image->beam.major))
        return SRCFIND_OK;
    wcs_reference_pixel(wcs, &x, &y); /* the beam is defined there, and constant in pixels */
    const enum srcfind_status status = jacobian_to_pixels(wcs, image, x, y, &to_pixels, error);
    if (status != SRCFIND_OK || !shape_outline(&to_pixels, image->beam.major, image->beam.minor,
                                               image->beam.angle, &outline))
        return status;
    beam->is_there = true;
    beam->outline = on_sheet(v, &outline, 1);
    const double radius = beam->outline.major + GAP;
    beam->has_box = 2 * radius < fmin(v->width, v->height) / 3; /* else it would hide the map */
    move_beam(beam, v, 0, radius);
    const struct beam_mark first = *beam;
    int64_t fewest = marks_count_touched(marks, &first.box);
    for (int corner = 1; beam->has_box && corner < CORNERS; corner++) {
        struct beam_mark other = first;
        move_beam(&other, v, corner, radius);
        const int64_t n = marks_count_touched(marks, &other.box);
        if (n < fewest) {
            fewest = n;
            *beam = other;
        }
    }
    return status;
}

void marks_draw_beam(const struct beam_mark *beam, const struct canvas *v) {
    const struct cairo *c = v->cairo;
    if (!beam->is_there)
        return;
    c->cairo_set_line_width(v->sheet, 1);
    c->cairo_set_source_rgb(v->sheet, 0, 0, 0);
    if (beam->has_box)
        canvas_draw_box(v, &beam->box);
    trace(v, &beam->outline);
    if (beam->has_box)
        c->cairo_fill(v->sheet);
    else
        c->cairo_stroke(v->sheet);
}
