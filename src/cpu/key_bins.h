/* Values counted in bins by the upper 16 bits of their order-preserving keys. All values of a bin
 * have one sign and one exponent, m = base + low, so that the exact sums of a whole bin follow from
 * the number of its values and the sums of their lower 16 bits and of the squares of these. */
#ifndef KEY_BINS_H
#define KEY_BINS_H

#include "backend/exact.h"

enum { KEY_BINS = 1 << 16, KEY_BIN_BITS = 16 };

/* low, low_square: of the lower 16 bits of the values' own bits. */
struct key_bin {
    int64_t n;
    uint64_t low;
    uint128 low_square;
};

static inline int key_bin_of(uint32_t key) {
    return (int)(key >> KEY_BIN_BITS);
}

/* The least and the greatest key of a bin. */
static inline uint32_t key_bin_first(int number) {
    return (uint32_t)number << KEY_BIN_BITS;
}

static inline uint32_t key_bin_last(int number) {
    return key_bin_first(number) | (KEY_BINS - 1);
}

/* Adds the value that has a key to its bin. */
static inline void key_bins_add(struct key_bin *bins, uint32_t key) {
    const uint64_t low = exact_bits(exact_unkey(key)) & (KEY_BINS - 1);
    struct key_bin *bin = &bins[key_bin_of(key)];
    bin->n++;
    bin->low += low;
    bin->low_square += low * low;
}

/* Adds the KEY_BINS bins of `other` to bins. */
static inline void key_bins_merge(struct key_bin *bins, const struct key_bin *other) {
    for (int i = 0; i < KEY_BINS; i++) {
        bins[i].n += other[i].n;
        bins[i].low += other[i].low;
        bins[i].low_square += other[i].low_square;
    }
}

/* Adds all values of a bin to sums: base is the mantissa of a value whose lower bits are 0, so that
 * sum m = n base + low, and sum m^2 = n base^2 + 2 base low + low_square. */
static inline void key_bin_sum(const struct key_bin *bin, int number, struct exact_sums *sums) {
    const uint32_t bits =
        exact_bits(exact_unkey(key_bin_first(number))) & ~(uint32_t)(KEY_BINS - 1);
    const int e = exact_exponent(bits);
    const int128 base = exact_mantissa(bits), n = bin->n;
    const int128 sum = base * n + bin->low;
    sums->sum[e] += bits >> 31 ? -sum : sum;
    sums->square[e] += (uint128)(base * base * n + 2 * base * bin->low + bin->low_square);
}

#endif
