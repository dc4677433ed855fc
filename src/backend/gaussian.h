/* Gaussians in the image: components that were fitted. */
#ifndef GAUSSIAN_H
#define GAUSSIAN_H

#include "backend/fit.h"
#include "backend/tensor.h"

/* peak exp(-(xx dx^2 + 2 xy dx dy + yy dy^2) / 2) at an offset (dx, dy) from (x, y), in pixels. */
struct gaussian {
    double peak, x, y;
    struct tensor form;
};

#define EXP gaussian_exp
#define EXP_FUNCTION EXACT_FUNCTION
#define REAL double
#define FROM_BITS gaussian_from_bits
#define TO_BITS gaussian_to_bits

EXACT_FUNCTION double gaussian_from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

EXACT_FUNCTION uint64_t gaussian_to_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#include "backend/fit_exp.inc"

/* The value at a pixel. */
EXACT_FUNCTION double gaussian_at(const struct gaussian *g, double x, double y) {
    const double dx = x - g->x, dy = y - g->y;
    const double square = g->form.xx * dx * dx + 2 * g->form.xy * dx * dy + g->form.yy * dy * dy;
    return square < GAUSSIAN_REACH ? g->peak * gaussian_exp(-0.5 * square) : 0;
}

/* Half the height of the rows that a Gaussian reaches, and half the width of the columns. */
EXACT_FUNCTION double gaussian_height(const struct gaussian *g) {
    return sqrt(GAUSSIAN_REACH * tensor_inverse(&g->form).yy);
}

EXACT_FUNCTION double gaussian_width(const struct gaussian *g) {
    return sqrt(GAUSSIAN_REACH * tensor_inverse(&g->form).xx);
}

/* The columns that a Gaussian reaches in row y: from centre - half to centre + half. */
struct gaussian_span {
    double centre, half;
};

EXACT_FUNCTION struct gaussian_span gaussian_span_at(const struct gaussian *g, double y) {
    const double dy = y - g->y, at = -g->form.xy * dy / g->form.xx;
    const double left =
        GAUSSIAN_REACH - (g->form.yy - g->form.xy * g->form.xy / g->form.xx) * dy * dy;
    return (struct gaussian_span){g->x + at, left > 0 ? sqrt(left / g->form.xx) : -1};
}

/* The Gaussian of a component, whose values are in units of rms, and whose origin is (x, y). */
EXACT_FUNCTION struct gaussian gaussian_of_fit(const struct fit_frame *f, const double *c,
                                               double rms, double x, double y) {
    const double dy = c[FIT_V] / f->vy, dx = (c[FIT_U] - f->uy * dy) / f->ux;
    const double p = c[FIT_P], q = c[FIT_Q], r = c[FIT_R];
    return (struct gaussian){c[FIT_PEAK] * rms,
                             x + dx,
                             y + dy,
                             {p * f->ux * f->ux,
                              p * f->uy * f->uy + 2 * q * f->uy * f->vy + r * f->vy * f->vy,
                              p * f->ux * f->uy + q * f->ux * f->vy}};
}

#endif
