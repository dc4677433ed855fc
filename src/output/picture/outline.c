#include "output/picture/outline.h"

#include <math.h>

struct box outline_box(const struct outline *o) {
    const double cosine = cos(o->angle), sine = sin(o->angle);
    const double x = hypot(o->major * cosine, o->minor * sine);
    const double y = hypot(o->major * sine, o->minor * cosine);
    return (struct box){o->x - x, o->y - y, o->x + x, o->y + y};
}

bool boxes_overlap(const struct box *a, const struct box *b) {
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

struct point {
    double x, y;
};

/* Turns a point to coordinates in which the ellipse is the circle of radius 1 around 0. */
static struct point in_circle(const struct outline *o, double x, double y) {
    const double cosine = cos(o->angle), sine = sin(o->angle);
    const double right = x - o->x, up = o->y - y;
    return (struct point){(right * cosine + up * sine) / o->major,
                          (up * cosine - right * sine) / o->minor};
}

bool outline_contains(const struct outline *o, double x, double y) {
    if (fabs(x - o->x) > o->major || fabs(y - o->y) > o->major) /* a quick test first */
        return false;
    const struct point p = in_circle(o, x, y);
    return hypot(p.x, p.y) < 1;
}

double outline_crossing(const struct outline *o, double right, double down) {
    const struct point p = in_circle(o, o->x + right, o->y + down);
    return 1 / hypot(p.x, p.y);
}

/* The distance of a segment from 0. */
static double distance(const struct point *a, const struct point *b) {
    const double x = b->x - a->x, y = b->y - a->y;
    const double along = -(a->x * x + a->y * y) / (x * x + y * y);
    const double t = fmax(0, fmin(along, 1));
    return hypot(a->x + t * x, a->y + t * y);
}

bool outline_touches(const struct outline *o, const struct box *box) {
    enum { CORNERS = 4 };
    const double most = o->major; /* from the centre to the line */
    const struct box around = {o->x - most, o->y - most, o->x + most, o->y + most};
    if (!boxes_overlap(&around, box)) /* a quick test first */
        return false;
    if (o->x > box->left && o->x < box->right && o->y > box->top && o->y < box->bottom)
        return true;
    const struct point corners[CORNERS] = {
        in_circle(o, box->left, box->top), in_circle(o, box->right, box->top),
        in_circle(o, box->right, box->bottom), in_circle(o, box->left, box->bottom)};
    double nearest = HUGE_VAL, farthest = 0;
    for (int i = 0; i < CORNERS; i++) {
        nearest = fmin(nearest, distance(&corners[i], &corners[(i + 1) % CORNERS]));
        farthest = fmax(farthest, hypot(corners[i].x, corners[i].y));
    }
    return nearest < 1 && farthest > 1;
}
