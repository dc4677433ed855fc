/* The scan: one read of the image, by a plan. It makes sums of the inliers, lists of the other
 * values, and runs of the candidates, the pixels that may belong to a source. */
#ifndef SCAN_H
#define SCAN_H

#include "backend/scan_plan.h"
#include "backend/segments.h"
#include "cpu/key_bins.h"
#include "cpu/noise_rows.h"
#include "cpu/scan_tile.h"
#include "input/chunks.h"

/* Values of pixels. */
struct scan_list {
    float *values;
    int64_t n, capacity;
};

/* Sums of values. */
struct values_sums {
    int64_t n, n_below; /* their number; the number of those below a bound */
    struct exact_sums sums;
};

/* The values that a scan lists; where they are too many, those of a bin of key_bins.h are only
 * counted, or counted and listed, or counted and to be listed by another scan. */
enum scan_part { SCAN_BRACKET, SCAN_OUTLIERS, SCAN_PARTS };
enum bin_state { BIN_COUNTED, BIN_LISTED, BIN_WANTED };

/* The results of one thread. */
struct scan_worker {
    struct scan *scan;
    struct values_sums inliers;       /* n_below: of those < median_low */
    int64_t n_blank, n_zero;          /* blanks; zeros that are neither inliers nor listed */
    struct scan_list bracket;         /* the median bracket: all pixels, if there are no inliers */
    struct scan_list outliers;        /* pixels beyond the inliers, but see candidates_apart */
    struct key_bin *bins[SCAN_PARTS]; /* of the values; NULL where all are listed */
    struct run *runs;                 /* of candidates; cut at the ends of chunks */
    int64_t n_runs, runs_capacity;
    struct scan_list candidates; /* the pixels of runs, one run after the other */
    int64_t sweep_at;            /* a band with more runs than this is swept */
    struct noise_rows rows;      /* the noise of the chunk, if the user gives maps */
    float *bounds; /* with local noise: no candidate of row bounds_row of nodes is less */
    int64_t bounds_row;
};

/* Consecutive chunks that one worker scanned in order, and the ranges of their runs and candidates
 * in the worker's arrays. */
struct scan_band {
    int worker;
    int64_t first_run, n_runs, first_candidate, n_candidates;
};

/* The noise that the pixels of a scan are compared with. */
struct scan_noise {
    const struct noise_thresholds *thresholds; /* NULL where the plan has the thresholds */
    const struct noise_sources *maps;          /* NULL if the user gives no map of the noise */
    int32_t *node;                             /* with local noise: the node at or before each x */
};

struct cpu_variant;

struct scan {
    const struct pixel_source *source;
    struct scan_plan plan;
    struct scan_noise noise;
    bool has_inliers;
    bool sweeps;           /* the scan drops candidates that cannot belong to a source */
    bool candidates_apart; /* all candidates are outliers != 0, and in no list of values */
    bool has_zero;         /* whether inliers may be within the zero band */
    uint8_t *bin_states;   /* enum bin_state of each bin; NULL: all values are listed */
    const struct cpu_variant *variant;
    int n_workers;
    struct scan_worker *workers;
    int64_t band_chunks, n_bands;
    struct scan_band *bands;
    uint64_t *blank; /* bitmap, a bit for each pixel; NULL if no pixel is blank */
};

/* Scans the image by the plan. bin_states: enum bin_state of KEY_BINS, where values are to be
 * counted in bins: of the caller, until scan_free_lists, and the clip notes there which it misses;
 * median_low and inlier_high of the plan must then be in different bins, so that no bin has
 * outliers of both sides. Else NULL. The caller clears the scan, also after an error. */
enum srcfind_status scan_image(struct scan *scan, const struct pixel_source *source,
                               const struct scan_plan *plan, uint8_t *bin_states,
                               struct threads *threads, struct error *error);

/* Scans the image for blanks, and for candidates above local noise or above the user's maps of the
 * noise, which replace noise->map. `noise` and `maps` must outlive the scan. With maps, the values
 * of candidates are SCAN_ABOVE_ISLAND or SCAN_ABOVE_DETECTION, not those of the pixels: thresholds
 * are known only while the maps are read. */
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
