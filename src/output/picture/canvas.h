/* Where the pixels of an image are on a picture. */
#ifndef PICTURE_CANVAS_H
#define PICTURE_CANVAS_H

#include "output/picture/cairo.h"
#include "output/picture/outline.h"

struct canvas {
    const struct cairo *cairo;
    cairo_t *sheet;                  /* the sheet that is drawn on */
    double left, top, width, height; /* of the map on the sheet */
    double scale;                    /* picture pixels for one pixel of the image */
};

/* The point of the sheet for a point of the image, where x and y are 0 at the centre of the first
 * pixel and y goes up. */
static inline double canvas_x(const struct canvas *v, double x) {
    return v->left + (x + 0.5) * v->scale;
}

static inline double canvas_y(const struct canvas *v, double y) {
    return v->top + v->height - (y + 0.5) * v->scale;
}

/* Draws a white box with a black line around it, on which things are seen on any map. */
static inline void canvas_draw_box(const struct canvas *v, const struct box *box) {
    const struct cairo *c = v->cairo;
    c->cairo_rectangle(v->sheet, box->left, box->top, box->right - box->left,
                       box->bottom - box->top);
    c->cairo_set_line_width(v->sheet, 1);
    c->cairo_set_source_rgb(v->sheet, 1, 1, 1);
    c->cairo_fill_preserve(v->sheet);
    c->cairo_set_source_rgb(v->sheet, 0, 0, 0);
    c->cairo_stroke(v->sheet);
}

#endif
