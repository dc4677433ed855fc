/* The one read of the image, by a plan: sums of the core, a list of the other values, and runs of
 * the pixels that may belong to a source. */
#ifndef SCAN_H
#define SCAN_H

#include "input/chunks.h"
#include "backend/scan_plan.h"

/* What the pixels that are added make: integers in units of 1 / scale. They hold the sums of 2^31
 * pixels. */
struct tile_sums {
    int64_t n, n_below; /* how many they are; how many of them are < median_low */
    int64_t sum;
    uint64_t square_low, square_high; /* sum of q^2 = square_low + square_high 2^32 */
};

/* A tile is a stretch of pixels that is sorted out at once. */
enum { TILE_PIXELS = 4096 };

/* Values of pixels, in their order; the caller's, with room for a tile's. */
struct tile_values {
    int n;
    float *value;
};

/* Places of pixels, in their order. */
struct tile_places {
    int n;
    uint16_t place[TILE_PIXELS];
};

/* Pixels of a tile that are not added. Behind those that there are, anything may be written. */
struct tile_rest {
    struct tile_values middle; /* within the median bracket */
    struct tile_places others; /* beyond the core, or of it and within the zero band */
};

/* Adds those of n <= TILE_PIXELS pixels (or values of a list) to the sums that are of the core, but
 * not within the zero band, and keeps the others. */
typedef void scan_tile_function(const struct scan_plan *plan, const void *pixels, bool swapped,
                                int n, struct tile_sums *sums, struct tile_rest *rest);

/* Adds the same ones of n values, and keeps none. */
typedef void scan_sum_function(const struct scan_plan *plan, const float *values, int64_t n,
                               struct tile_sums *sums);

/* The same from pixel `first` on, behind what was kept of those before, without vectors. */
void scan_tile_continue(const struct scan_plan *plan, const void *pixels, bool swapped, int first,
                        int n, struct tile_sums *sums, struct tile_rest *rest);

/* Adds what the pixels that were added by a plan make. */
void scan_add_sums(struct exact_sums *sums, const struct scan_plan *plan,
                   const struct tile_sums *tiles);

scan_tile_function scan_tile_plain, scan_tile_sse2, scan_tile_avx2, scan_tile_avx512,
    scan_tile_neon;
scan_sum_function scan_sum_plain, scan_sum_sse2, scan_sum_avx2, scan_sum_avx512, scan_sum_neon;

struct scan_variant {
    const char *name;
    scan_tile_function *tile;
    scan_sum_function *sum;
    bool (*runs)(void); /* whether this processor has what it takes */
};

/* All that were compiled, the fastest first and the plain one last. */
extern const struct scan_variant scan_variants[];
extern const int n_scan_variants;

/* The fastest variant that this processor runs, or the one that SRCFIND_SIMD in the environment
 * names, for tests; the plain one where there is none of this name. */
const struct scan_variant *scan_variant_choose(void);

struct scan_run {
    int64_t first, count; /* pixels of the plane, all of one row */
};

/* Values of pixels. */
struct scan_list {
    float *values;
    int64_t n, room;
};

/* What one thread gathered. */
struct scan_worker {
    struct scan *scan;
    struct exact_sums sums;  /* of the core */
    int64_t n_core, n_below; /* pixels of the core; those of them that are < median_low */
    int64_t n_blank, n_zero; /* zeros that are neither of the core nor listed */
    struct scan_list middle; /* pixels of the median bracket, which has all if there is no core */
    struct scan_list tails;  /* pixels beyond the core, without candidates that are apart */
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
    bool has_core;
    bool candidates_apart; /* all are tails, none is 0, and they are in no other list */
    bool has_zero;         /* whether pixels of the core may be within the zero band */
    const struct scan_variant *variant;
    int n_workers;
    struct scan_worker *workers;
    struct scan_segment *segments; /* one a piece */
    uint64_t *blank;               /* a bit a pixel of the plane; NULL where no pixel is blank */
};

/* Reads the image by the plan. The scan is to be cleared, also after an error. */
enum srcfind_status scan_image(struct scan *scan, const struct pixel_source *source,
                               const struct scan_plan *plan, int n_threads, struct error *error);
void scan_clear(struct scan *scan);

/* Gives back what only a clip needs: the lists of values, and room that no candidate takes. */
void scan_give_back(struct scan *scan);

int64_t scan_blanks(const struct scan *scan);

#endif
