/* Double-double arithmetic: sums and products with 106 bits; shared by all backends. Needed because
 * a sum can be much larger than what remains when the background, or the mean, is subtracted.
 * (Dekker 1971, Numerische Mathematik 18, 224; the product with a fused multiply-add.) */
#ifndef DOUBLE_DOUBLE_H
#define DOUBLE_DOUBLE_H

#include <math.h>

#include "backend/exact.h"

struct double_double {
    double high, low;
};

/* n * scale, where scale is a power of two. Conversions from 128 bits are slow and rarely needed.
 */
EXACT_FUNCTION struct double_double dd_integer(int128 n, double scale) {
    const int64_t narrow = (int64_t)n, limit = (int64_t)1 << 62;
    if (narrow == n && narrow >= -limit && narrow <= limit) {
        const double rounded = (double)narrow;
        const struct double_double r = {rounded * scale,
                                        (double)(narrow - (int64_t)rounded) * scale};
        return r;
    }
    const double high = (double)n;
    const struct double_double r = {high * scale, (double)(n - (int128)high) * scale};
    return r;
}

/* The rounded sum and its exact rounding error. */
EXACT_FUNCTION struct double_double dd_sum(double a, double b) {
    const double sum = a + b, b_rounded = sum - a;
    const struct double_double r = {sum, (a - (sum - b_rounded)) + (b - b_rounded)};
    return r;
}

/* a + b, if |a| >= |b| or a is 0 */
EXACT_FUNCTION struct double_double dd_sum_ordered(double a, double b) {
    const double sum = a + b;
    const struct double_double r = {sum, b - (sum - a)};
    return r;
}

/* a + b and a - b, with a relative error of 2^-103 of |a| + |b|. */
EXACT_FUNCTION struct double_double dd_add(struct double_double a, struct double_double b) {
    const struct double_double sum = dd_sum(a.high, b.high);
    return dd_sum_ordered(sum.high, sum.low + (a.low + b.low));
}

EXACT_FUNCTION struct double_double dd_subtract(struct double_double a, struct double_double b) {
    const struct double_double minus_b = {-b.high, -b.low};
    return dd_add(a, minus_b);
}

/* a * b, with a relative error of 2^-102. */
EXACT_FUNCTION struct double_double dd_multiply(struct double_double a, struct double_double b) {
    const double product = a.high * b.high;
    const double low = fma(a.high, b.high, -product) + (a.high * b.low + a.low * b.high);
    return dd_sum_ordered(product, low);
}

/* a - b * c */
EXACT_FUNCTION double dd_minus_product(struct double_double a, double b, struct double_double c) {
    const double product = b * c.high, product_low = fma(b, c.high, -product) + b * c.low;
    const struct double_double sum = dd_sum(a.high, -product);
    return sum.high + (sum.low + (a.low - product_low));
}

#endif
