/* What the host and the kernels of the CUDA backend share. Pixels have one number, y * pitch + x,
 * from the first to the last of the image; numbers between the rows of an image whose pitch is
 * more than its width belong to no pixel. */
#ifndef JOB_H
#define JOB_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"
#include "backend/scan_window.h"
#include "backend/value_bins.h"

enum {
    TILE = 1024,         /* pixels that a warp scans at a time; pieces begin at a multiple of it */
    KEYS_A_SUM = 128,    /* of a sorted list, whose sums are kept together */
    KEY_GROUPS = 512,    /* keys of one sign and exponent: key >> 23 */
    TILES_A_BLOCK = 64,  /* that a block takes apart */
    RUNS_A_BLOCK = 1024, /* whose islands a block numbers */
    ROUNDS_MOST = 1 << 20,
};

/* Buckets by which a list is sorted: each will hold about as much as the others, as far as the
 * sample can tell. */
enum {
    BUCKET = 4096, /* keys that it has room for */
    BUCKETS_MOST = 1024,
    BUCKET_PARTS = 64, /* which will hold the same, too */
};

/* A longer list is narrowed, before it is sorted, to the parts that a clip will look at. */
enum {
    PARTS = 8192, /* of such a list */
    GAPS = 64,
    ZONES = 11,
};

/* What becomes of a part's keys: below ZONES, they are taken out, and added up in that zone. */
enum part_use {
    LEFT = ZONES, /* a bound may be among them */
    LEFT_BETWEEN, /* none may, since there is a zone on both sides */
};

/* Runs are numbered by int. */
#define MOST_RUNS (INT32_MAX - 1)

/* The greatest key of a number; what pads a list comes after it. */
#define KEY_LAST 0xff7fffffu
#define KEY_PADDING 0xffffffffu

/* Sums over the mantissas m of keys: m, and the lower 32 and the upper bits of m^2. Differences of
 * sums that have overflowed are right, since those over the keys of one exponent fit. */
struct key_sums {
    uint64_t m, square_low, square_high;
};

/* Where the keys of a group, and of those after it, begin in the sorted list; and the sums of the
 * keys before that place, but of those that key_sums has. */
struct key_group {
    int64_t first;
    struct key_sums rest;
};

/* Neighbouring pixels of one row and one tile, all above the island threshold. */
struct run {
    int64_t first, last; /* pixels */
    int64_t value;       /* of the first pixel, in job.values; the others follow */
};

/* How far an island reaches: the greatest of its runs'. y_min is the row of the first. */
enum reach { LEFT_END, RIGHT_END, UPPER_END, ON_EDGE, REACHES }; /* -x_min, x_max, y_max, edge */

/* What tells whether an island counts; 32 bytes, which are added to at once. */
struct extent {
    unsigned long long n_pixels;
    unsigned long long peak; /* key of the highest pixel, and ~ the first run that has it */
    int reach[REACHES];
};

/* Values of the sample, by their bins. */
struct sample_counts {
    struct bin_scale scale;
    float unit; /* 1 / scale.per_unit; 0 where a few values do not tell */
    int count[BINS], n_zero;
};

struct core_totals {
    int128 sum;     /* of q */
    uint128 square; /* of q^2 */
};

struct scan_totals {
    struct core_totals core, small; /* in units of 1 / scale, and of that 2^-SCAN_PLAN_SMALLER */
    unsigned long long n_below, n_zero, n_blank; /* what is not listed, 0 or blank is of the core */
    unsigned long long n_listed;                 /* also those for which there was no room */
    unsigned long long n_candidates;             /* the same, with places taken in store */
};

/* Neighbouring parts whose keys were taken out of a list. */
struct gap {
    int64_t rank, place; /* keys before it, of the whole list and of those that are left */
    int64_t n;           /* that were taken out */
    int part;            /* the first */
};

/* The gaps between two bounds, which are within the bounds of a round together or not at all. Their
 * pixels are added up in units of 2^(exponent - EXACT_UNIT), which is 1 / scale. */
struct zone {
    struct core_totals sums;
    int exponent, part; /* any of its parts */
    float scale;
};

struct narrowing {
    bool done;
    int64_t n;         /* keys that will be left, in list[1] */
    int64_t n_written; /* of them */
    int n_gaps;
    struct gap gaps[GAPS];    /* in the order of the values */
    struct zone zones[ZONES]; /* all 0 if there are fewer */
};

struct clip_outcome {
    struct exact_sums sums; /* of the pixels that are left */
    double median, rms, min, max;
    int64_t n_kept;
    int rounds;
    bool empty;
    bool known; /* false: the list does not tell */
};

/* What kernels find out and leave for the next ones, and in the end for the host. */
struct state {
    struct scan_plan plan;
    struct scan_window window;
    bool scan_wanted; /* the plan is worth a scan */
    struct bin_scale bin_scale;
    struct scan_totals totals;
    struct narrowing narrowing;
    bool list_unsorted; /* a bucket had no room, or a narrowed list is not what was foreseen */
    struct clip_outcome clip;
    struct thresholds thresholds;
    int64_t n_runs, n_counting; /* also where there was no room for them */
};

/* All that kernels are told. Pointers are to device memory; rooms are numbers of elements. */
struct job {
    int64_t width, height, pitch, n_pixels; /* n_pixels = pitch * (height - 1) + width */
    int64_t n_tiles;
    bool swapped;
    struct detection detection;
    const uint32_t *pixels;          /* NULL if they come in chunks */
    int64_t image_size, chunks_size; /* bytes, of buffers that are not laid out further */

    uint32_t *sample; /* keys */
    int64_t n_sample;
    struct sample_counts *sample_counts;
    uint32_t *list[2]; /* keys of the listed values */
    int64_t list_room;
    int64_t n_buckets;            /* 0: the list is sorted by CUB */
    bool narrows;                 /* and narrowed first; never with buckets */
    struct bin_parts *bin_parts;  /* BINS of them */
    float *part_low;              /* the least value of each of the PARTS, about */
    uint32_t *part_size;          /* keys that belong there */
    uint8_t *part_use;            /* enum part_use */
    uint32_t *bucket_size;        /* keys that belong there */
    uint32_t *buckets;            /* BUCKET keys each */
    struct key_sums *key_sums;    /* one for KEYS_A_SUM keys of the list, and one more */
    struct key_group *key_groups; /* KEY_GROUPS of them */

    uint32_t *candidates, *blank; /* a bit a pixel, whole tiles */
    float *values;                /* of the candidates, tile after tile in any order */
    int64_t values_room;
    int64_t *tile_value; /* where the values of a tile begin */
    int64_t *tile_runs;  /* runs before a tile; one more for all */

    struct run *runs;
    int *parent;            /* an earlier run of the same island, or the run itself */
    struct extent *extents; /* of an island, at its first run */
    int *place;             /* of an island among those that count, at its first run; else -1 */
    int64_t runs_room;
    struct island *islands; /* those that count */
    int64_t counting_room;

    /* For sums over the blocks before one: a word a block, and one more; first those of tiles. */
    unsigned long long *tile_blocks, *run_blocks;
    int64_t tile_words, run_words;

    struct state *state;
    void *temporary; /* for CUB */
    size_t temporary_size;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Each puts work into a stream and returns at once. */

/* Takes a plan without a core; the totals become 0. */
cudaError_t launch_plan_of_host(const struct job *job, const struct scan_plan *plan,
                                cudaStream_t stream);
/* Draws the sample from job->pixels, and sets its counts to 0. */
cudaError_t launch_sample(const struct job *job, cudaStream_t stream);
/* Makes the plan from the sample's keys, in any order, whose counts are 0, and parts; the totals
 * become 0. */
cudaError_t launch_plan(const struct job *job, cudaStream_t stream);
/* Scans the pixels [first, first + count), which are at `pixels`. */
cudaError_t launch_scan(const struct job *job, const uint32_t *pixels, int64_t first, int64_t count,
                        cudaStream_t stream);
/* Sorts a list whose length the host need not know, by buckets; the keys are in list[0] then. */
cudaError_t launch_bucket_sort(const struct job *job, cudaStream_t stream);
/* Narrows a list whose length the host need not know: counts its keys by parts; decides which are
 * left, and whether that is worth while, in part_use and, but for the zones' sums, narrowing; and
 * takes the others out. */
cudaError_t launch_count_parts(const struct job *job, cudaStream_t stream);
cudaError_t launch_foresee(const struct job *job, cudaStream_t stream);
cudaError_t launch_narrow(const struct job *job, cudaStream_t stream);
/* Clips by sorted keys: all that were listed, or are left, and no more than n_keys. */
cudaError_t launch_clip(const struct job *job, const uint32_t *keys, int64_t n_keys,
                        cudaStream_t stream);
cudaError_t launch_thresholds(const struct job *job, const struct thresholds *thresholds,
                              cudaStream_t stream);
/* From candidates to the moments of the islands that count; after the clip, or launch_thresholds.
 */
cudaError_t launch_islands(const struct job *job, cudaStream_t stream);

/* Only reads n pixels. */
cudaError_t launch_read(const uint32_t *pixels, int64_t n, uint32_t *sink, cudaStream_t stream);

/* CUB's part, in cub.cu; with a temporary of NULL it only says how much is wanted. Sorting leaves
 * the keys in keys[*sorted]. */
cudaError_t cub_sort(void *temporary, size_t *size, uint32_t *const keys[2], int64_t n, int *sorted,
                     cudaStream_t stream);
cudaError_t cub_sum_keys(void *temporary, size_t *size, struct key_sums *sums, int64_t n,
                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
