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

#include "backend/backend.h"

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

/* Modulo 2^128, since only the results are known to fit. */
#define ADD_ROW moments_add_row
#define ADD_SUM island_add
#define SUMS uint128
#include "backend/moments_row.inc"

/* Modulo 2^64, where moments_are_small. */
#define ADD_ROW moments_add_small_row
#define ADD_SUM island_add_small
#define SUMS uint64_t
#include "backend/moments_row.inc"

#endif
