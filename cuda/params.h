/* Declarations shared by the host and the kernels of the CUDA backend. Pixel (x, y) has the number
 * y * pitch + x. If pitch > width, the numbers between two rows belong to no pixel. */
#ifndef PARAMS_H
#define PARAMS_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"
#include "backend/scan_window.h"
#include "backend/smoothing.h"
#include "backend/value_bins.h"
#include "backend/value_sums.h"

enum {
    TILE = 1024,      /* pixels that a warp scans at a time; a chunk begins at a multiple of TILE */
    KEYS_A_SUM = 128, /* consecutive keys of a sorted list that share one key_sums */
    KEY_GROUPS = 512, /* a group: the keys of one sign and exponent, key >> 23 */
    TILES_A_BLOCK = 64,  /* tiles in which one block of threads finds the runs */
    RUNS_A_BLOCK = 1024, /* runs whose islands one block of threads numbers */
    ROUNDS_MOST = 1 << 20,
};

/* The index of a run is an int. */
#define MOST_RUNS (INT32_MAX - 1)

/* KEY_LAST is the greatest key of a number. Lists are padded with KEY_PADDING, which sorts last. */
#define KEY_LAST 0xff7fffffu
#define KEY_PADDING 0xffffffffu

/* Sums over the mantissas m of keys: of m, and of the lower 32 and the upper bits of m^2. They may
 * overflow. A difference of two of them, over keys of one exponent, fits and is correct. */
struct key_sums {
    uint64_t m, square_low, square_high;
};

/* `first` is the index of the group's first key in the sorted list. `remainder` is the sum over the
 * keys from the last multiple of KEYS_A_SUM up to `first`: params.key_sums has the sum over the
 * keys before that multiple. */
struct key_group {
    int64_t first;
    struct key_sums remainder;
};

/* Neighbouring pixels of one row and one tile, all at or above the island threshold. */
struct device_run {
    int64_t first, last; /* the numbers of the first and the last pixel */
    int64_t value;       /* index of the first pixel's value in params.values; the others follow */
};

/* A run of an island of the catalogue, and the island's index: what the host gets. Runs are cut at
 * the ends of tiles. */
struct listed_run {
    struct run run;
    int32_t island;
};

/* Bounds of an island, each a maximum over its runs: -x_min, x_max, y_max, edge. y_min is that of
 * its first run. */
enum reach { LEFT_END, RIGHT_END, UPPER_END, ON_EDGE, REACHES };

/* Size, peak and box of an island, which decide whether it enters the catalogue. 32 bytes; threads
 * add to them by atomics. */
struct extent {
    unsigned long long n_pixels;
    unsigned long long peak; /* key of the highest pixel << 32 | ~(the first run that has it) */
    int reach[REACHES];
};

/* The peak of an island with local noise: the pixel with the highest value - background. */
struct local_extent {
    unsigned long long above; /* value - background of the highest pixel, mapped to an integer in
                                 the same order */
    unsigned long long snr;   /* the same of the largest (value - background) / rms */
    int peak_run;             /* the first run that has it */
    int passes;               /* a pixel is above the detection threshold */
};

/* A histogram of the sample. */
struct sample_counts {
    struct bin_scale scale;
    float unit; /* 1 / scale.per_unit; 0 if no scale could be estimated */
    int count[BINS], n_zero;
};

struct inlier_totals {
    int128 sum;     /* of q */
    uint128 square; /* of q^2 */
};

struct scan_totals {
    struct inlier_totals inliers;       /* in units of 1 / scale */
    struct inlier_totals small;         /* in units of 2^-SCAN_PLAN_SMALLER / scale */
    unsigned long long n_below;         /* inliers below the window's centre */
    unsigned long long n_zero, n_blank; /* a pixel is listed, 0, blank or an inlier */
    unsigned long long n_listed;        /* also counts values beyond list_capacity */
    unsigned long long
        n_candidates; /* also counts those beyond values_capacity, and reserved ones */
};

struct clip_outcome {
    struct exact_sums sums; /* of the pixels that the clip keeps */
    double median, rms, min, max;
    int64_t n_kept;
    int rounds;
    bool empty;
    bool known; /* false: the clip cannot be computed from the list */
};

/* The results of kernels, for the kernels that follow and for the host. */
struct state {
    struct scan_plan plan;
    struct scan_window window;
    bool scan_wanted; /* false: the prediction is not useful, and the scan is skipped */
    struct scan_totals totals;
    struct clip_outcome clip;
    struct thresholds thresholds;
    int64_t n_runs, n_counting; /* also count those beyond the capacities */
    int64_t n_listed_runs;
};

/* The parameters of all kernels. Pointers are to device memory; capacities are numbers of
 * elements. */
struct params {
    int64_t width, height, pitch, n_pixels; /* n_pixels = pitch * (height - 1) + width */
    int64_t n_tiles;
    bool swapped;
    struct detection detection;
    const uint32_t *pixels;                        /* NULL for a streamed image */
    int64_t image_size, chunks_size, samples_size; /* bytes of BUFFER_IMAGE, _CHUNKS and _SAMPLES */

    uint32_t *sample; /* keys */
    int64_t n_sample;
    struct sample_counts *sample_counts;
    uint32_t *list[2]; /* keys of the listed values */
    int64_t list_capacity;
    bool at_once; /* launched without waiting for the list's length: all of it is sorted */
    struct key_sums *key_sums;    /* one per KEYS_A_SUM keys of the list, and one more */
    struct key_group *key_groups; /* KEY_GROUPS elements */

    uint32_t *candidates, *blank; /* bitmaps: one bit per pixel, whole tiles */
    float *values;                /* of the candidates; the tiles are in any order */
    int64_t values_capacity;
    int64_t *tile_value; /* index of a tile's first value in `values` */
    int64_t *tile_runs;  /* number of runs before a tile; the last element counts all runs */

    struct device_run *runs;
    int *parent;            /* union-find: an earlier run of the same island, or the run itself */
    struct extent *extents; /* of an island, at the index of its first run */
    struct listed_run *listed_runs; /* in the memory of the extents, which are not needed then */
    int *island_index; /* at the index of an island's first run: its index in `islands`, or -1 */
    int64_t runs_capacity;
    struct island *islands; /* the islands of the catalogue */
    int64_t counting_capacity;

    /* For prefix sums over blocks of threads: a counter, and one word per block. The words of
     * run_blocks follow those of tile_blocks in memory. */
    unsigned long long *tile_blocks, *run_blocks;
    int64_t tile_words, run_words;

    /* Local noise. */
    struct noise_map noise; /* its nodes are `nodes` from the clip of the boxes on, before NULL */
    struct noise_at *nodes;
    struct cell_axis node_x, node_y;     /* without cells where the host clips the boxes */
    struct cell_axis coarse_x, coarse_y; /* of coarse boxes, with the same cells; without nodes
                                            where the host finds what is left out */
    struct noise_at *coarse_nodes;
    struct value_sums *cells; /* cells[j * node_x.n_cells + i] */
    uint32_t *node_keys;      /* of all pixels, cell by cell, sorted in chunks */
    int *node_of_y;           /* the row of nodes at or before each y */
    float *bounds; /* the least of noise_bounds_of of row j of nodes at j * width + x, for the
                      pixels from there to the next row of nodes */
    struct local_extent *local; /* of an island, at the index of its first run */

    struct state *state;
    void *temporary; /* for CUB */
    size_t temporary_size;
};

enum { WIDE_SEGMENT = 1024 }; /* pixels */

/* The entries of a segment of pixels in a list. */
struct wide_segment {
    uint32_t first, n;
};

/* The runs of an image beyond its coarse noise, in the memory of a device. */
struct wide_list {
    uint32_t *entries;
    int64_t capacity;
    struct wide_segment *segments;
    int64_t n_segments;
    unsigned long long *n; /* entries: also counts those beyond the capacity */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Each function enqueues work in a stream and returns at once. */

/* Sets a plan without inliers, and the totals to 0. */
cudaError_t launch_set_plan(const struct params *params, const struct scan_plan *plan,
                            cudaStream_t stream);
/* Draws the sample from params->pixels, and sets sample_counts to 0. */
cudaError_t launch_sample(const struct params *params, cudaStream_t stream);
/* Makes the plan from the sample's keys, in any order; sample_counts must be 0. Sets the totals to
 * 0. */
cudaError_t launch_predict(const struct params *params, cudaStream_t stream);
/* Scans the pixels [first, first + count), which are at `pixels`: by the plan or, if there are
 * nodes, for those that are above the noise between them. */
cudaError_t launch_scan(const struct params *params, const uint32_t *pixels, int64_t first,
                        int64_t count, cudaStream_t stream);
/* Clips by the sorted keys of all listed values; n_keys includes the padding. */
cudaError_t launch_clip(const struct params *params, const uint32_t *keys, int64_t n_keys,
                        cudaStream_t stream);
cudaError_t launch_thresholds(const struct params *params, const struct thresholds *thresholds,
                              cudaStream_t stream);
/* Finds the islands of the candidates and sums their moments; after launch_clip or
 * launch_thresholds. */
cudaError_t launch_islands(const struct params *params, cudaStream_t stream);

/* Lists the runs of the islands of the catalogue, in their order; after launch_islands. */
cudaError_t launch_list_runs(const struct params *params, cudaStream_t stream);

/* Sorts and sums the pixels of each cell. */
cudaError_t launch_cells(const struct params *params, cudaStream_t stream);
/* Clips the boxes of all nodes, after launch_cells. A node whose box has too few pixels gets rms
 * NAN; a node that is left to the host gets rms -1. */
cudaError_t launch_nodes(const struct params *params, cudaStream_t stream);
/* Lists the runs of params->pixels beyond params->noise, whose nodes are on the device. The list
 * has WIDE_SEGMENT pixels a segment, of rows without what is between them. */
cudaError_t launch_wide(const struct params *params, const struct wide_list *list,
                        cudaStream_t stream);
/* Sets bounds and node_of_y for a scan by the noise between the nodes. */
cudaError_t launch_bounds(const struct params *params, cudaStream_t stream);

/* Copies the pixels of rows that are row_stride apart, changed, to rows without gaps. */
cudaError_t launch_change(const uint32_t *from, int64_t row_stride, int64_t width, int64_t height,
                          const struct pixel_change *how, uint32_t *to, cudaStream_t stream);

/* Copies the values of n runs of an image, to values[first[i]] and so on. */
cudaError_t launch_gather(const uint32_t *pixels, int64_t pitch, bool swapped,
                          const struct run *runs, const int64_t *first, int64_t n, float *values,
                          cudaStream_t stream);

/* A band of an image that is smoothed; all pointers are to the device. */
struct smooth_band {
    const uint32_t *pixels; /* of the image */
    int64_t pitch, width, height;
    bool swapped;
    struct smoothing smoothing;
    struct smoothing_model model;
    int64_t first_row, n_rows;     /* of the image: those that its samples need */
    int64_t first, n;              /* the rows of samples that are made */
    float *residual;               /* of its pixels */
    float *sums, *weights;         /* along its rows */
    float *samples;                /* of the image */
    unsigned long long *n_samples; /* that are not blank are added */
};

/* Makes the samples of a band. */
cudaError_t launch_smooth(const struct smooth_band *band, cudaStream_t stream);

/* Reads n pixels and does nothing else, for --bench. */
cudaError_t launch_read(const uint32_t *pixels, int64_t n, uint32_t *sink, cudaStream_t stream);

/* The calls of CUB, in cub.cu. With temporary == NULL they only set *size to the bytes of temporary
 * memory that they need. cub_sort leaves the sorted keys in keys[*sorted]. */
cudaError_t cub_sort(void *temporary, size_t *size, uint32_t *const keys[2], int64_t n, int *sorted,
                     cudaStream_t stream);
cudaError_t cub_sum_keys(void *temporary, size_t *size, struct key_sums *sums, int64_t n,
                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
