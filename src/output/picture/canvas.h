/* Where the pixels of an image are on a picture. */
#ifndef PICTURE_CANVAS_H
#define PICTURE_CANVAS_H

#include "output/picture/cairo.h"

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

#endif
