/* Symmetric 2 x 2 tensors: second moments and covariances. */
#ifndef TENSOR_H
#define TENSOR_H

#include "backend/exact.h"

struct tensor {
    double xx, yy, xy;
};

/* Eigenvalues, the larger one first, and the direction of the major axis: cosine and sine of twice
 * its angle from x towards y. This form needs no trigonometric functions. */
struct axes {
    double major, minor, cosine, sine;
};

EXACT_FUNCTION struct axes tensor_axes(const struct tensor *t) {
    const double mean = (t->xx + t->yy) / 2, half = (t->xx - t->yy) / 2;
    const double spread = sqrt(half * half + t->xy * t->xy);
    const bool round = spread == 0;
    return (struct axes){mean + spread, mean - spread, round ? 1 : half / spread,
                         round ? 0 : t->xy / spread};
}

EXACT_FUNCTION double tensor_determinant(const struct tensor *t) {
    return t->xx * t->yy - t->xy * t->xy;
}

/* The inverse; of second moments, the form of the Gaussian. */
EXACT_FUNCTION struct tensor tensor_inverse(const struct tensor *t) {
    const double determinant = tensor_determinant(t);
    return (struct tensor){t->yy / determinant, t->xx / determinant, -t->xy / determinant};
}

EXACT_FUNCTION struct tensor tensor_of_axes(const struct axes *a) {
    const double mean = (a->major + a->minor) / 2, spread = (a->major - a->minor) / 2;
    return (struct tensor){mean + spread * a->cosine, mean - spread * a->cosine, spread * a->sine};
}

#endif
