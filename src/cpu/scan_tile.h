/* The inner loop of the scan: it classifies the pixels of a tile by the plan. Compiled for several
 * instruction sets; all give the same bits. */
#ifndef SCAN_TILE_H
#define SCAN_TILE_H

#include "backend/scan_plan.h"

/* Sums of pixels, as integers in units of 1 / scale of the plan. Up to 2^31 pixels cannot overflow
 * them. */
struct tile_sums {
    int64_t n, n_below; /* number of pixels; number of pixels < median_low */
    int64_t sum;
    uint64_t square_low, square_high; /* sum of q^2 = square_low + square_high 2^32 */
};

/* A tile is a range of pixels that one call classifies. */
enum { TILE_PIXELS = 4096 };

/* Values of pixels, in the order of the pixels. `value` is a buffer of the caller, of TILE_PIXELS
 * elements. */
struct tile_values {
    int n;
    float *value;
};

/* Indices of pixels in a tile, ascending. */
struct tile_indices {
    int n;
    uint16_t index[TILE_PIXELS];
};

/* The pixels of a tile that are not in the sums. The elements from n on are undefined. */
struct tile_unsummed {
    struct tile_values bracket; /* within the median bracket */
    struct tile_indices others; /* beyond the bracket; inliers only in the zero band */
};

/* Adds the inliers outside of the zero band among n <= TILE_PIXELS pixels (or values of a list) to
 * the sums, and stores all other pixels in `unsummed`. */
typedef void scan_tile_function(const struct scan_plan *plan, const void *pixels, bool swapped,
                                int n, struct tile_sums *sums, struct tile_unsummed *unsummed);

/* Adds the inliers outside of the zero band among n values to the sums, and ignores other values.
 */
typedef void scan_sum_function(const struct scan_plan *plan, const float *values, int64_t n,
                               struct tile_sums *sums);

/* Does the work of a scan_tile_function without vectors, from pixel `first` on. Appends to
 * `unsummed`. */
void scan_tile_continue(const struct scan_plan *plan, const void *pixels, bool swapped, int first,
                        int n, struct tile_sums *sums, struct tile_unsummed *unsummed);

/* Adds the sums of tiles, made by the plan, to exact sums. */
void scan_add_sums(struct exact_sums *sums, const struct scan_plan *plan,
                   const struct tile_sums *tiles);

scan_tile_function scan_tile_plain, scan_tile_sse2, scan_tile_avx2, scan_tile_avx512,
    scan_tile_neon;
scan_sum_function scan_sum_plain, scan_sum_sse2, scan_sum_avx2, scan_sum_avx512, scan_sum_neon;

#endif
