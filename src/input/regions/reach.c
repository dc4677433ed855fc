#include "input/regions/reach.h"

#include <math.h>

static struct reach reach_of(const struct direction *centre, double angle) {
    return (struct reach){*centre, angle, cos(angle), sin(angle)};
}

/* The angle between two directions; infinite if one of them is NaN. */
static double angle_between(const struct direction *a, const struct direction *b) {
    const double chord = sqrt(sky_chord_squared(a, b));
    return isnan(chord) ? INFINITY : 2 * asin(fmin(chord / 2, 1));
}

struct reach reach_of_directions(const struct direction *centre, const struct direction *directions,
                                 int n) {
    static const double MARGIN = 1.5, LEAST = 1e-7; /* radians; above the rounding of a cosine */
    double farthest = 0;
    for (int i = 0; i < n; i++)
        farthest = fmax(farthest, angle_between(centre, &directions[i]));
    return reach_of(centre, MARGIN * farthest + LEAST);
}

struct reach reach_of_parts(const struct reach *parts, int64_t n) {
    static const double LEAST = 1e-7;
    const struct direction *centre = &parts[n / 2].centre;
    double farthest = 0;
    for (int64_t i = 0; i < n; i++)
        farthest = fmax(farthest, angle_between(centre, &parts[i].centre) + parts[i].angle);
    return reach_of(centre, farthest + LEAST);
}

enum reach_side reach_side(const struct reach *r, const struct direction *centre,
                           const struct drawn_limit *limit) {
    if (limit->chord_squared < 0)
        return REACH_OUTSIDE;
    if (!(r->angle < M_PI / 2))
        return REACH_UNKNOWN;
    const double cosine = sky_dot(&r->centre, centre);
    const double c = limit->cosine * r->cosine, s = limit->sine * r->sine;
    if (limit->angle + r->angle < M_PI && cosine < c - s)
        return REACH_OUTSIDE;
    return limit->angle > r->angle && cosine > c + s ? REACH_INSIDE : REACH_UNKNOWN;
}
