/* Converts pixels to the integers of an island's moments; shared by all backends.
 *
 * All pixels of an island lie between the threshold T and the island's peak. Every float >= T > 0
 * is a multiple of T's last bit, 2^(ilogb(T) - 23). If the sums cannot overflow, this is the unit,
 * and q = pixel / unit is exact. sum(q x^2) may take 126 bits, and its terms are below 2^qbits *
 * side^2: so qbits is 126 - 2 log2(side) - log2(n_pixels), and 62 at most. This is enough if peak /
 * T < 2^(qbits - 24), which is 2^38 for an ordinary island, and 2^22 for one that fills a box of a
 * million pixels squared. For a higher peak, or T <= 0, the unit is as fine as the sums allow, and
 * q is rounded to the nearest integer. Even then q depends only on the pixel and its island. */
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

/* log2 of sum(q x^2), rounded up, if pixels are below 2^qbits units */
EXACT_FUNCTION int moments_bits(const struct island *island, int qbits) {
    return qbits + 2 * moments_side(island) + moments_log2((uint64_t)island->n_pixels);
}

/* The least n with |v| < 2^n, for a normal v */
EXACT_FUNCTION int moments_exponent(float v) {
    return exact_exponent(exact_bits(v)) - (EXACT_UNIT - 24);
}

/* The exponent of the unit, for an island whose box, number of pixels and peak are known. */
EXACT_FUNCTION int16_t moments_unit(const struct island *island, float threshold) {
    const int free_bits = 126 - moments_bits(island, 0);
    const int qbits = free_bits < 62 ? free_bits : 62;
    const float most = fabsf(threshold) > fabsf(island->peak) ? threshold : island->peak;
    const int finest = moments_exponent(most) - qbits;
    const int last_bit = moments_exponent(threshold) - 24;
    return (int16_t)(threshold > 0 && last_bit > finest ? last_bit : finest);
}

/* Whether all sums of an island, whose unit is known, are below 2^63 and none is negative. */
EXACT_FUNCTION bool moments_are_small(const struct island *island, float threshold) {
    return threshold > 0 &&
           moments_bits(island, moments_exponent(island->peak) - island->unit) <= 63;
}

/* The exponent of the unit for values above a local background: the highest one, `peak`, has
 * MOMENTS_BITS bits, or fewer where the sums have no room for so many. */
enum { MOMENTS_BITS = 40 };

EXACT_FUNCTION int16_t moments_local_unit(const struct island *island, double peak) {
    const int free_bits = 126 - moments_bits(island, 0);
    int exponent;
    frexp(peak, &exponent);
    return (int16_t)(exponent - (free_bits < MOMENTS_BITS ? free_bits : MOMENTS_BITS));
}

/* Whether all sums of such values, of which none is negative, are below 2^63. */
EXACT_FUNCTION bool moments_are_small_locally(const struct island *island) {
    return moments_bits(island, MOMENTS_BITS) <= 63;
}

/* value / 2^unit as an integer, where per_unit is 2^-unit */
EXACT_FUNCTION int64_t moments_quantise(double value, double per_unit) {
    return llrint(value * per_unit);
}

/* The sum 0 + 1 + 2 + ... of n terms */
EXACT_FUNCTION int64_t moments_numbers(int64_t n) {
    return n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
}

/* The sum 0 + 1 + 4 + 9 + ... of n terms. Divides 64-bit numbers if they are enough: a 128-bit
 * division is slow, above all on a GPU. */
EXACT_FUNCTION int128 moments_squares(int64_t n) {
    const int64_t numbers = moments_numbers(n), few = 1 << 20;
    return n < few ? (int128)(numbers * (2 * n - 1) / 3) : (int128)numbers * (2 * n - 1) / 3;
}

/* moments_add_row: modulo 2^128. Terms may overflow, the sums do not. */
#define ADD_ROW moments_add_row
#define VALUE float
#define ADD_SUM island_add
#define SUMS uint128
#include "backend/moments_row.inc"

/* moments_add_small_row: modulo 2^64, for islands with moments_are_small. */
#define ADD_ROW moments_add_small_row
#define VALUE float
#define ADD_SUM island_add_small
#define SUMS uint64_t
#include "backend/moments_row.inc"

/* Adds values above a local background. */
#define ADD_ROW moments_add_local_row
#define VALUE double
#define ADD_SUM island_add
#define SUMS uint128
#include "backend/moments_row.inc"

#define ADD_ROW moments_add_small_local_row
#define VALUE double
#define ADD_SUM island_add_small
#define SUMS uint64_t
#include "backend/moments_row.inc"

#endif
