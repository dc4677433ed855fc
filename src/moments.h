/* How pixels become the integers of an island's moments; shared by every backend.
 *
 * All pixels of an island lie between the threshold and its peak. The unit is as fine as the sums
 * allow: with 126 bits for sum(q x^2), whose terms are below 2^qbits * side^2, qbits is
 * 126 - 2 log2(side) - log2(n_pixels), and 62 at most. Every pixel above the threshold T > 0 is a
 * multiple of T's last bit, 2^(ilogb(T) - 23), so q is exact while peak / T < 2^(qbits - 24): 2^38
 * for an ordinary island, 2^22 for one that fills a box of a million pixels squared. Beyond that
 * (or where T <= 0) q is the nearest integer: still a function of the pixel and its island alone.
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

/* The unit's exponent, for an island whose box, size and peak are known. */
EXACT_FUNCTION int moments_unit(const struct island *island, float threshold) {
    const int64_t width = (int64_t)island->x_max - island->x_min + 1;
    const int64_t height = (int64_t)island->y_max - island->y_min + 1;
    const int side = moments_log2((uint64_t)(width > height ? width : height));
    const int room = 126 - 2 * side - moments_log2((uint64_t)island->n_pixels);
    const int qbits = room < 62 ? room : 62;
    const float most = fabsf(threshold) > fabsf(island->peak) ? threshold : island->peak;
    return exact_exponent(exact_bits(most)) - (EXACT_UNIT - 24) - qbits;
}

/* value / 2^unit as an integer, where per_unit is 2^-unit */
EXACT_FUNCTION int64_t moments_quantise(float value, double per_unit) {
    return llrint((double)value * per_unit);
}

/* Adds a pixel to an island whose unit is set. */
EXACT_FUNCTION void moments_add(struct island *island, int64_t q, int64_t x, int64_t y) {
    island->q += q;
    island->qx += (int128)q * x;
    island->qy += (int128)q * y;
    island->qxx += (int128)q * (x * x);
    island->qyy += (int128)q * (y * y);
    island->qxy += (int128)q * (x * y);
    island->x += x;
    island->y += y;
    island->xx += x * x;
    island->yy += y * y;
    island->xy += x * y;
}

#endif
