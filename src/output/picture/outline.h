/* Ellipses and boxes on the sheet of a picture, in its pixels: y goes down. */
#ifndef PICTURE_OUTLINE_H
#define PICTURE_OUTLINE_H

#include <stdbool.h>

/* An ellipse: semi-axes above 0, the longer one first, and the angle of the major axis from x
 * upwards, in radians. */
struct outline {
    double x, y, major, minor, angle;
};

struct box {
    double left, top, right, bottom;
};

/* The box around an ellipse. */
struct box outline_box(const struct outline *outline);

bool outline_contains(const struct outline *outline, double x, double y);

/* How many times a step from the centre, which is not 0, fits between the centre and the line of
 * the ellipse. */
double outline_crossing(const struct outline *outline, double right, double down);

/* Whether the line of an ellipse runs through a box, or the centre of the ellipse is within the
 * box. */
bool outline_touches(const struct outline *outline, const struct box *box);

bool boxes_overlap(const struct box *a, const struct box *b);

#endif
