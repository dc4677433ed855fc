/* The one read of the image, by a plan: sums of the core, a list of the other values, and runs of
 * the pixels that may belong to a source. */
#ifndef SCAN_H
#define SCAN_H

#include "cpu/pieces.h"
#include "scan_plan.h"

/* What the core's pixels beyond the zero band add up to: integers in units of 1 / scale. They hold
 * the sums of 2^31 pixels. */
struct tile_sums {
    int64_t n_core, n_below; /* how many; how many of them are < median_low */
    int64_t sum;
    uint64_t square_low, square_high; /* sum of q^2 = square_low + square_high 2^32 */
};

/* A tile is a stretch of pixels that is sorted out at once. Variants may write as many values more
 * than they say as fit in the spare room. */
enum { TILE_PIXELS = 4096, TILE_SPARE = 16 };

/* What is left of a tile: values, each in the order of the pixels. */
struct tile_rest {
    int n_listed, n_small, n_zero;
    float *listed;                         /* not of the core, finite, not 0; the caller's room */
    float small[TILE_PIXELS + TILE_SPARE]; /* of the core and within the zero band */
    /* n_zero counts zeros that are not of the core. */
    uint64_t placed[TILE_PIXELS / 64]; /* bit i % 64 of word i / 64: pixel i is >= candidate, or not
                                          finite */
};

/* Adds n <= TILE_PIXELS pixels to the sums and fills the rest, of which `listed` has room for n +
 * TILE_SPARE. */
typedef void scan_tile_function(const struct scan_plan *plan, const uint32_t *pixels, bool swapped,
                                int n, struct tile_sums *sums, struct tile_rest *rest);

scan_tile_function scan_tile_plain, scan_tile_avx2;

/* The fastest variant that this processor runs; SRCFIND_SIMD=plain in the environment forces the
 * plain one, so that tests reach each. */
scan_tile_function *scan_tile_choose(void);

/* To be called once before scan_tile_avx2; scan_tile_choose does. */
void scan_tile_avx2_prepare(void);

struct scan_run {
    int64_t first, count; /* pixels of the plane, all of one row */
};

/* What one thread gathered. */
struct scan_worker {
    const struct scan *scan;
    struct exact_sums sums;  /* of the core */
    int64_t n_core, n_below; /* pixels of the core; those of them that are < median_low */
    int64_t n_blank, n_zero; /* zeros that are not of the core */
    float *values;           /* of the listed pixels, finite and not 0 */
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
