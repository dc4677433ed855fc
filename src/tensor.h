/* Symmetric 2 x 2 tensors: second moments and covariances. */
#ifndef TENSOR_H
#define TENSOR_H

#include <math.h>

struct tensor {
    double xx, yy, xy;
};

/* Eigenvalues, the greater one first, and the direction of its axis: the angle from x towards y. */
struct axes {
    double major, minor, angle;
};

static inline struct axes tensor_axes(const struct tensor *t) {
    const double mean = (t->xx + t->yy) / 2;
    const double spread = hypot((t->xx - t->yy) / 2, t->xy);
    return (struct axes){mean + spread, mean - spread, atan2(2 * t->xy, t->xx - t->yy) / 2};
}

static inline struct tensor tensor_of_axes(const struct axes *a) {
    const double c = cos(a->angle), s = sin(a->angle);
    return (struct tensor){a->major * c * c + a->minor * s * s, a->major * s * s + a->minor * c * c,
                           (a->major - a->minor) * c * s};
}

#endif
