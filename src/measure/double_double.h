/* Differences of products with 106 bits, rounded to a double once at the end: sums of integers can
 * be large beside what is left of them when the background is taken off. (Dekker 1971, Numerische
 * Mathematik 18, 224; the product with a fused multiply-add.) */
#ifndef DOUBLE_DOUBLE_H
#define DOUBLE_DOUBLE_H

#include <math.h>

#include "backend/exact.h"

struct double_double {
    double high, low;
};

/* n * scale, for a power of two scale. Conversions from 128 bits take long, and are rarely needed.
 */
static inline struct double_double dd_integer(int128 n, double scale) {
    const int64_t few = (int64_t)n, most = (int64_t)1 << 62;
    if (few == n && few >= -most && few <= most) {
        const double rounded = (double)few;
        return (struct double_double){rounded * scale, (double)(few - (int64_t)rounded) * scale};
    }
    const double high = (double)n;
    return (struct double_double){high * scale, (double)(n - (int128)high) * scale};
}

static inline struct double_double dd_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return (struct double_double){sum, (a - (sum - part)) + (b - part)};
}

/* a - b * c */
static inline double dd_minus_product(struct double_double a, double b, struct double_double c) {
    const double product = b * c.high, rest = fma(b, c.high, -product) + b * c.low;
    const struct double_double sum = dd_sum(a.high, -product);
    return sum.high + (sum.low + (a.low - rest));
}

#endif
