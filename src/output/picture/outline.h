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

/* How many times a way from the centre, which is not 0, reaches to the ellipse's line. */
double outline_crossing(const struct outline *outline, double right, double down);

/* Whether an ellipse's line runs through a box, or its centre is within. */
bool outline_touches(const struct outline *outline, const struct box *box);

bool boxes_overlap(const struct box *a, const struct box *b);

#endif
