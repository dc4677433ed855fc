/* Where the pixels of an image are on a picture. */
#ifndef PICTURE_VIEW_H
#define PICTURE_VIEW_H

#include "output/picture/cairo.h"

struct view {
    const struct cairo *cairo;
    cairo_t *sheet;                  /* what is drawn on */
    double left, top, width, height; /* of the map on the sheet */
    double scale;                    /* picture pixels for one pixel of the image */
};

/* The place of a point of the image on the sheet: x and y are 0 at the centre of the first pixel,
 * and y goes up. */
static inline double view_x(const struct view *v, double x) {
    return v->left + (x + 0.5) * v->scale;
}

static inline double view_y(const struct view *v, double y) {
    return v->top + v->height - (y + 0.5) * v->scale;
}

#endif
