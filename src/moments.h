/* How pixels become the integers of an island's moments; shared by every backend.
 *
 * All pixels of an island lie between the threshold T and its peak. Every pixel above T > 0 is a
 * multiple of T's last bit, 2^(ilogb(T) - 23): this is the unit, and q = pixel / unit is exact, if
 * the sums allow it. With 126 bits for sum(q x^2), whose terms are below 2^qbits * side^2, qbits is
 * 126 - 2 log2(side) - log2(n_pixels), and 62 at most: enough while peak / T < 2^(qbits - 24), 2^38
 * for an ordinary island, 2^22 for one that fills a box of a million pixels squared. Beyond that
 * (or where T <= 0) the unit is as fine as the sums allow, and q is the nearest integer: still a
 * function of the pixel and its island alone.
 */
#ifndef MOMENTS_H
#define MOMENTS_H

#include "backend.h"

/* log2 of n, rounded up */
EXACT_FUNCTION int moments_log2(uint64_t n) {
    int bits = 0;
    for (; n > 1; n = (n + 1) / 2)
        bits++;
    return bits;
}

/* log2 of the longer side of an island's box, rounded up */
EXACT_FUNCTION int moments_side(const struct island *island) {
    const int64_t width = (int64_t)island->x_max - island->x_min + 1;
    const int64_t height = (int64_t)island->y_max - island->y_min + 1;
    return moments_log2((uint64_t)(width > height ? width : height));
}

/* log2 of sum(q x^2), rounded up, where pixels are below 2^qbits units. */
EXACT_FUNCTION int moments_bits(const struct island *island, int qbits) {
    return qbits + 2 * moments_side(island) + moments_log2((uint64_t)island->n_pixels);
}

/* The least n with |v| < 2^n, for a normal v */
EXACT_FUNCTION int moments_exponent(float v) {
    return exact_exponent(exact_bits(v)) - (EXACT_UNIT - 24);
}

/* The unit's exponent, for an island whose box, size and peak are known. */
EXACT_FUNCTION int moments_unit(const struct island *island, float threshold) {
    const int room = 126 - moments_bits(island, 0);
    const int qbits = room < 62 ? room : 62;
    const float most = fabsf(threshold) > fabsf(island->peak) ? threshold : island->peak;
    const int finest = moments_exponent(most) - qbits;
    const int last_bit = moments_exponent(threshold) - 24;
    return threshold > 0 && last_bit > finest ? last_bit : finest;
}

/* Whether all sums of an island whose unit is known are below 2^63, and none is negative. */
EXACT_FUNCTION bool moments_are_small(const struct island *island, float threshold) {
    return threshold > 0 &&
           moments_bits(island, moments_exponent(island->peak) - island->unit) <= 63;
}

/* value / 2^unit as an integer, where per_unit is 2^-unit */
EXACT_FUNCTION int64_t moments_quantise(float value, double per_unit) {
    return llrint((double)value * per_unit);
}

/* 0 + 1 + ... and 0 + 1 + 4 + ..., of n terms. */
EXACT_FUNCTION int64_t moments_numbers(int64_t n) {
    return n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
}

/* In 64 bits where they do: divisions of 128 bits take long, on a device above all. */
EXACT_FUNCTION int128 moments_squares(int64_t n) {
    const int64_t numbers = moments_numbers(n), few = 1 << 20;
    return n < few ? (int128)(numbers * (2 * n - 1) / 3) : (int128)numbers * (2 * n - 1) / 3;
}

/* Adds a row of n pixels, the first of which is at (x, y) from the corner of the box, to an island
 * whose unit is set. Sums of sums, from the last pixel to the first, take the place of products
 * with the places: once, twice and three times added up, the i-th q counts 1, i + 1 and
 * (i + 1) (i + 2) / 2 times. Modulo 2^128, since only the results are known to fit. */
EXACT_FUNCTION void moments_add_row(struct island *island, const float *values, int64_t n,
                                    int64_t x, int64_t y, double per_unit) {
    uint128 once = 0, twice = 0, thrice = 0;
    for (int64_t i = n - 1; i >= 0; i--) {
        once += (uint128)(int128)moments_quantise(values[i], per_unit);
        twice += once;
        thrice += twice;
    }
    const uint128 q_i = twice - once, q_ii = 2 * thrice - 3 * twice + once;
    const uint128 q_x = once * (uint128)x + q_i;
    const int64_t numbers = moments_numbers(n);
    island_add(island, SUM_Q, once);
    island_add(island, SUM_QX, q_x);
    island_add(island, SUM_QY, once * (uint128)y);
    island_add(island, SUM_QXX, (once * (uint128)x + 2 * q_i) * (uint128)x + q_ii);
    island_add(island, SUM_QYY, once * (uint128)(y * y));
    island_add(island, SUM_QXY, q_x * (uint128)y);
    island_add(island, SUM_X, (uint128)(n * x + numbers));
    island_add(island, SUM_Y, (uint128)(n * y));
    island_add(island, SUM_XX,
               (uint128)n * (uint128)(x * x) + (uint128)numbers * (uint128)(2 * x) +
                   (uint128)moments_squares(n));
    island_add(island, SUM_YY, (uint128)n * (uint128)(y * y));
    island_add(island, SUM_XY, (uint128)(n * x + numbers) * (uint128)y);
}

#endif
