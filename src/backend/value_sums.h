/* Sums of pixels in twice the precision of a double, and the rms that follows from them; shared by
 * all backends. */
#ifndef VALUE_SUMS_H
#define VALUE_SUMS_H

#include "backend/double_double.h"

/* A number of pixels, their sum and that of their squares. The error of each sum must be below
 * 2^-90 of the sum of the magnitudes. */
struct value_sums {
    int64_t n;
    struct double_double sum, square;
};

/* Adds a pixel. */
EXACT_FUNCTION void value_sums_add(struct value_sums *sums, float pixel) {
    const struct double_double v = {(double)pixel, 0};
    const struct double_double square = {(double)pixel * (double)pixel, 0}; /* exact: 48 bits */
    sums->n++;
    sums->sum = dd_add(sums->sum, v);
    sums->square = dd_add(sums->square, square);
}

/* Adds other sums to sums. */
EXACT_FUNCTION void value_sums_merge(struct value_sums *sums, const struct value_sums *other) {
    sums->n += other->n;
    sums->sum = dd_add(sums->sum, other->sum);
    sums->square = dd_add(sums->square, other->square);
}

/* The sums of the pixels that are left of `all` without those that are removed. */
EXACT_FUNCTION struct value_sums value_sums_less(const struct value_sums *all,
                                                 const struct value_sums *removed) {
    const struct value_sums left = {all->n - removed->n, dd_subtract(all->sum, removed->sum),
                                    dd_subtract(all->square, removed->square)};
    return left;
}

/* The population standard deviation of the pixels that are left of `all`, rounded once. False if
 * it is not certain which double this is. The error of the sums is less than 2^-88 of all->n times
 * the sum of all squares, which bounds the square of the sum of magnitudes (Cauchy-Schwarz). */
EXACT_FUNCTION bool value_sums_rms(const struct value_sums *all, const struct value_sums *left,
                                   double *rms) {
    const struct double_double n = {(double)left->n, 0};
    const struct double_double d =
        dd_subtract(dd_multiply(n, left->square), dd_multiply(left->sum, left->sum));
    const double error = 0x1p-88 * (double)all->n * all->square.high;
    *rms = 0;
    return all->square.high == 0 ||
           (d.high > 2 * error &&
            exact_root_over(d.high, d.low, (double)left->n, error / d.high, rms));
}

#endif
