/* The scan: one read of the image, by a plan. It makes sums of the inliers, lists of the other
 * values, and runs of the candidates, the pixels that may belong to a source. */
#ifndef SCAN_H
#define SCAN_H

#include "backend/scan_plan.h"
#include "backend/segments.h"
#include "cpu/key_rows.h"
#include "cpu/noise_rows.h"
#include "input/chunks.h"

/* Sums of pixels, as integers in units of 1 / scale of the plan. Up to 2^31 pixels cannot overflow
 * them. */
struct tile_sums {
    int64_t n, n_below; /* number of pixels; number of those that are < median_low */
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

/* Adds to the sums those of n <= TILE_PIXELS pixels (or values of a list) that are inliers and not
 * within the zero band, and stores the others in `unsummed`. */
typedef void scan_tile_function(const struct scan_plan *plan, const void *pixels, bool swapped,
                                int n, struct tile_sums *sums, struct tile_unsummed *unsummed);

/* Adds the same ones of n values to the sums, and ignores the others. */
typedef void scan_sum_function(const struct scan_plan *plan, const float *values, int64_t n,
                               struct tile_sums *sums);

/* The same as a scan_tile_function, without vectors, for the pixels from `first` on. Appends to
 * what `unsummed` has of the pixels before. */
void scan_tile_continue(const struct scan_plan *plan, const void *pixels, bool swapped, int first,
                        int n, struct tile_sums *sums, struct tile_unsummed *unsummed);

/* Adds the sums of tiles, made by the plan, to exact sums. */
void scan_add_sums(struct exact_sums *sums, const struct scan_plan *plan,
                   const struct tile_sums *tiles);

scan_tile_function scan_tile_plain, scan_tile_sse2, scan_tile_avx2, scan_tile_avx512,
    scan_tile_neon;
scan_sum_function scan_sum_plain, scan_sum_sse2, scan_sum_avx2, scan_sum_avx512, scan_sum_neon;

/* Values of pixels. */
struct scan_list {
    float *values;
    int64_t n, capacity;
};

/* The results of one thread. */
struct scan_worker {
    struct scan *scan;
    struct exact_sums sums;     /* of the inliers */
    int64_t n_inliers, n_below; /* inliers; those of them that are < median_low */
    int64_t n_blank, n_zero;    /* blanks; zeros that are neither inliers nor listed */
    struct scan_list bracket;   /* the median bracket: all pixels, if there are no inliers */
    struct scan_list outliers;  /* pixels beyond the inliers, but see candidates_apart */
    struct run *runs;           /* of candidates; cut at the ends of chunks */
    int64_t n_runs, runs_capacity;
    float *candidates; /* the values of the pixels of runs, one run after the other */
    int64_t n_candidates, candidates_capacity;
    int64_t sweep_at;       /* a band with more runs than this is swept */
    struct noise_rows rows; /* the noise of the chunk, if scan->maps */
    float *bounds;          /* with local noise: no candidate of row bounds_row of nodes is less */
    int64_t bounds_row;
};

/* Consecutive chunks that one worker scanned in order, and the ranges of their runs and candidates
 * in the worker's arrays. */
struct scan_band {
    int worker;
    int64_t first_run, n_runs, first_candidate, n_candidates;
};

struct cpu_variant;

struct scan {
    const struct pixel_source *source;
    struct scan_plan plan;
    const struct noise_thresholds *noise; /* NULL where the plan has the thresholds */
    const struct noise_sources *maps;     /* NULL if the user gives no map of the noise */
    int32_t *node;                        /* with local noise: the node at or before each x */
    bool has_inliers;
    bool sweeps;           /* the scan drops candidates that cannot belong to a source */
    bool candidates_apart; /* all candidates are outliers != 0, and in no list of values */
    bool has_zero;         /* whether inliers may be within the zero band */
    const struct cpu_variant *variant;
    int n_workers;
    struct scan_worker *workers;
    int64_t band_chunks, n_bands;
    struct scan_band *bands;
    uint64_t *blank; /* bitmap, a bit for each pixel; NULL if no pixel is blank */
};

/* Scans the image by the plan. The caller clears the scan, also after an error. */
enum srcfind_status scan_image(struct scan *scan, const struct pixel_source *source,
                               const struct scan_plan *plan, struct threads *threads,
                               struct error *error);

/* Scans the image for candidates above noise that is not one for all pixels, and for blanks.
 * `noise` and `maps` must outlive the scan. maps: those that the user gives, if any, stand in for
 * noise->map. The values of the candidates are then not those of the pixels, but SCAN_ABOVE_ISLAND
 * or SCAN_ABOVE_DETECTION: the thresholds are known only where the maps are read. */
static const float SCAN_ABOVE_ISLAND = 0, SCAN_ABOVE_DETECTION = 1;

enum srcfind_status scan_image_by_noise(struct scan *scan, const struct pixel_source *source,
                                        const struct noise_thresholds *noise,
                                        const struct noise_sources *maps, int connectivity,
                                        struct threads *threads, struct error *error);
void scan_clear(struct scan *scan);

/* Frees the lists of values, which only a clip needs, and the unused capacity of the candidates. */
void scan_free_lists(struct scan *scan);

/* The number of blank pixels. */
int64_t scan_blanks(const struct scan *scan);

#endif
