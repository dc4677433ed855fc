/* The one read of the image. Pixels of the core, which are certain to survive the clip and are not
 * near any median, are only counted and summed, in integers. The others are listed by value. Pixels
 * that may belong to a source are kept with their places, as runs. */
#ifndef SCAN_H
#define SCAN_H

#include "cpu/pieces.h"
#include "exact.h"

/* A pixel v is of the core if core_low < v < core_high, it is not within [median_low, median_high],
 * and |v| >= zero_band. Then |v| < 2^exponent, and v * scale is an integer below 2^31 in magnitude,
 * since zero_band = 2^(exponent - 8) and scale = 2^(31 - exponent). */
struct scan_plan {
    float core_low, core_high, median_low, median_high, zero_band, scale;
    int exponent;
    float candidate;  /* a pixel >= this is kept with its place; core_high <= candidate */
    bool list_values; /* false: only candidates and blanks are wanted */
};

/* A plan without a core: everything is listed. */
struct scan_plan scan_plan_all(void);

/* A plan that lists nothing and keeps the pixels >= candidate. */
struct scan_plan scan_plan_candidates(float candidate);

/* What a tile of pixels adds up to: integers in units of 1 / scale. */
struct tile_sums {
    int64_t n_core, n_below; /* pixels of the core; those of them that are < median_low */
    int64_t sum;
    uint64_t square_low, square_high; /* sum of q^2 = square_low + square_high 2^32 */
};

enum { TILE_PIXELS = 4096 };

/* Adds n <= TILE_PIXELS pixels to the sums and sets bit i % 64 of listed[i / 64] for each pixel i
 * that is not of the core; other bits of the (n + 63) / 64 words are 0. */
typedef void scan_tile_function(const struct scan_plan *plan, const uint32_t *pixels, bool swapped,
                                int n, struct tile_sums *sums, uint64_t *listed);

scan_tile_function scan_tile_plain, scan_tile_avx2;

/* The fastest variant that this processor runs; SRCFIND_SIMD=plain in the environment forces the
 * plain one, so that tests reach each. */
scan_tile_function *scan_tile_choose(void);

struct scan_run {
    int64_t first, count; /* pixels of the plane, all of one row */
};

/* What one thread gathered. */
struct scan_worker {
    const struct scan *scan;
    struct tile_sums sums;
    int64_t n_blank, n_zero;
    float *values; /* of the listed pixels, finite and not 0 */
    int64_t n_values, values_room;
    struct scan_run *runs;
    int64_t n_runs, runs_room;
    float *candidates; /* the values of the pixels of runs, one run after the other */
    int64_t n_candidates, candidates_room;
};

/* Where the runs of a piece are. */
struct scan_segment {
    int worker;
    int64_t first_run, n_runs, first_candidate;
};

struct scan {
    const struct pixel_source *source;
    struct scan_plan plan;
    scan_tile_function *tile;
    int n_workers;
    struct scan_worker *workers;
    struct scan_segment *segments; /* one a piece */
    uint64_t *blank; /* a bit a pixel of the plane; memory is only touched where there are blanks */
};

/* Reads the image by the plan. The scan is to be cleared, also after an error. */
enum srcfind_status scan_image(struct scan *scan, const struct pixel_source *source,
                               const struct scan_plan *plan, int n_threads, struct error *error);
void scan_clear(struct scan *scan);

int64_t scan_blanks(const struct scan *scan);

#endif
