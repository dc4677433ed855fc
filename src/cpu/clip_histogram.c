/* How the clip by histograms works. A key is split into its upper 16 bits, the bin, and its lower
 * 16 bits.
 *
 * 1. A first read counts each bin, and sums the lower bits of its pixels and their squares. All
 *    pixels of a bin have one sign and exponent: m = base + low, so that exact sums of whole bins
 *    follow.
 * 2. A round of the clip needs the value of the median and the pixels within the bounds. Where a
 *    bin is cut by a bound, or has the median, the round asks for its detail: the count of each of
 *    its 65536 keys (detail_of).
 * 3. If details are missing, the round goes on with estimates, to learn which other bins it needs;
 *    then a read counts up to 32 bins in detail, with their neighbours (count_details), and the
 *    round is repeated.
 * 4. When few pixels are left, they are listed, sorted and clipped in memory (clip_list).
 *
 * Always: a round ends with exact sums, or leaves the set as it was (histogram_trim returns false).
 *
 * Cost: one read, one or two more for most images; 2 MiB a thread for the bins, 512 KiB a detail,
 * of which at most 96 stay. */
#include "cpu/clip_histogram.h"

#include <float.h>
#include <stdlib.h>

#include "cpu/clip_sorted.h"
#include "cpu/key_bins.h"

enum {
    DETAILS_A_READ = 32,
    DETAIL_THREADS = 4,
    MOST_DETAILS = 96, /* that are kept from one read to the next, 512 KiB each */
};

/* The detail of a bin: its pixels, counted by the lower 16 bits of their keys. */
struct detail {
    int64_t count[KEY_BINS];
};

/* Keys [low, high]. */
struct key_range {
    uint32_t low, high;
};

struct histogram {
    const struct pixel_source *source;
    struct threads *threads;
    int n_threads;
    struct key_bin *bins; /* KEY_BINS of each thread; the first thread's become the total */
    int64_t *blanks;      /* of each thread */
    struct detail *details[KEY_BINS];     /* NULL for a bin without one */
    int n_details, last_used[KEY_BINS];   /* n_reads when a detail was last used */
    int n_reads;                          /* that counted details */
    struct detail *thread_details;        /* DETAILS_A_READ of each thread, during a read */
    int wanted[DETAILS_A_READ], n_wanted; /* bins that the next read counts in detail */
    int16_t slot[KEY_BINS]; /* index of a bin in `wanted` during a read; -1 if it is not there */
    struct key_range left;  /* the keys that are left */
};

static enum srcfind_status count_chunk(void *context, int worker, const struct chunk *chunk,
                                       struct error *error) {
    struct histogram *h = context;
    (void)error;
    struct key_bin *bins = h->bins + (size_t)worker * KEY_BINS;
    for (int64_t i = 0; i < chunk->count; i++) {
        const float v = pixel_value(chunk->pixels, i, h->source->swapped);
        if (!isfinite(v)) {
            h->blanks[worker]++;
            continue;
        }
        key_bins_add(bins, exact_key(v));
    }
    return SRCFIND_OK;
}

static enum srcfind_status detail_chunk(void *context, int worker, const struct chunk *chunk,
                                        struct error *error) {
    struct histogram *h = context;
    (void)error;
    struct detail *details = h->thread_details + (size_t)worker * DETAILS_A_READ;
    for (int64_t i = 0; i < chunk->count; i++) {
        const float v = pixel_value(chunk->pixels, i, h->source->swapped);
        const uint32_t key = exact_key(v);
        const int slot = h->slot[key_bin_of(key)];
        if (slot >= 0 && isfinite(v))
            details[slot].count[key & 0xffff]++;
    }
    return SRCFIND_OK;
}

/* Asks the next read to count a bin in detail, if the bin is not empty and the read has a free
 * slot. */
static void want(struct histogram *h, int bin) {
    for (int i = 0; i < h->n_wanted; i++)
        if (h->wanted[i] == bin)
            return;
    if (h->n_wanted < DETAILS_A_READ && !h->details[bin] && h->bins[bin].n > 0)
        h->wanted[h->n_wanted++] = bin;
}

/* The detail of a bin. NULL if the bin is not counted yet: the next read counts it, and the caller
 * goes on with an estimate, to learn which other details the round needs. */
static const struct detail *detail_of(struct histogram *h, int bin) {
    h->last_used[bin] = h->n_reads;
    want(h, bin);
    return h->details[bin];
}

/* Adds the pixels of a bin whose keys lie within [low, high], or all of them if the detail is
 * missing. Returns their number. */
static int64_t add_kept_of_bin(struct histogram *h, struct exact_sums *sums, int bin) {
    const uint32_t first = key_bin_first(bin), last = key_bin_last(bin);
    int64_t n = 0;
    if (h->bins[bin].n == 0)
        return 0;
    const bool complete = h->left.low <= first && h->left.high >= last;
    const struct detail *detail = complete ? NULL : detail_of(h, bin);
    if (!detail) {
        key_bin_sum(&h->bins[bin], bin, sums);
        return h->bins[bin].n;
    }
    for (uint32_t key = first > h->left.low ? first : h->left.low;; key++) {
        const int64_t count = detail->count[key & 0xffff];
        n += count;
        if (count)
            exact_add(sums, exact_unkey(key), count);
        if (key == last || key == h->left.high)
            return n;
    }
}

static void sum_kept(struct histogram *h, struct clip_set *set) {
    set->sums = (struct exact_sums){0};
    set->n = 0;
    for (int bin = key_bin_of(h->left.low);
         bin <= key_bin_of(h->left.high) && h->left.low <= h->left.high; bin++)
        set->n += add_kept_of_bin(h, &set->sums, bin);
}

/* The key of the k-th smallest (from 0) of the pixels of a bin that are left. */
static uint32_t key_in_bin(const struct histogram *h, const struct detail *detail, int bin,
                           int64_t k) {
    const uint32_t first = key_bin_first(bin);
    uint32_t key = first > h->left.low ? first : h->left.low;
    while (k >= detail->count[key & 0xffff])
        k -= detail->count[key++ & 0xffff];
    return key;
}

static bool histogram_select(struct clip_set *set, int64_t k, float *value) {
    struct histogram *h = set->state;
    struct exact_sums ignored = {0};
    int bin = key_bin_of(h->left.low);
    for (int64_t n; bin < KEY_BINS - 1 && k >= (n = add_kept_of_bin(h, &ignored, bin)); bin++)
        k -= n;
    const struct detail *detail = detail_of(h, bin);
    *value = exact_unkey(detail ? key_in_bin(h, detail, bin, k) : (uint32_t)bin << 16 | 0x8000);
    return true;
}

/* False if a detail was missing in this round: the set is then unchanged. */
static bool histogram_trim(struct clip_set *set, float low, float high) {
    struct histogram *h = set->state;
    const uint32_t low_key = exact_key(low), high_key = exact_key(high);
    const struct key_range old = h->left;
    const struct exact_sums old_sums = set->sums;
    const int64_t old_n = set->n;
    h->left.low = low_key > h->left.low ? low_key : h->left.low;
    h->left.high = high_key < h->left.high ? high_key : h->left.high;
    if (h->left.low != old.low || h->left.high != old.high)
        sum_kept(h, set);
    const bool missing = h->n_wanted > 0;
    if (missing || set->n == 0) /* a round that removes all pixels keeps the range before it */
        h->left = old;
    if (missing) {
        set->sums = old_sums;
        set->n = old_n;
    }
    return !missing;
}

/* The least or the greatest value that is left; any value if a detail is missing. */
static double extreme(struct histogram *h, bool greatest) {
    const int first = key_bin_of(h->left.low), last = key_bin_of(h->left.high);
    struct exact_sums ignored = {0};
    for (int i = 0; i <= last - first; i++) {
        const int bin = greatest ? last - i : first + i;
        const int64_t n = add_kept_of_bin(h, &ignored, bin);
        if (n == 0)
            continue;
        const struct detail *detail = detail_of(h, bin);
        return detail ? exact_unkey(key_in_bin(h, detail, bin, greatest ? n - 1 : 0)) : 0;
    }
    return 0;
}

/* Continues the clip. False if details must be counted before it can go on. */
static bool continue_clip(struct histogram *h, struct clip_set *set, double kappa, bool *clipped,
                          struct srcfind_background *b) {
    if (!*clipped)
        *clipped = clip_run(set, kappa, b);
    if (!*clipped)
        return false;
    b->min = extreme(h, false);
    b->max = extreme(h, true);
    return h->n_wanted == 0;
}

static enum srcfind_status count_bins(struct histogram *h, struct error *error) {
    const struct chunk_work work = {.work = count_chunk, .context = h};
    const enum srcfind_status status =
        chunks_run(h->source, h->threads, h->n_threads, &work, error);
    for (int t = 1; t < h->n_threads; t++)
        key_bins_merge(h->bins, h->bins + (size_t)t * KEY_BINS);
    return status;
}

/* Adds the neighbours of wanted bins, the nearest first, until the next read has no slot free. */
static void want_neighbours(struct histogram *h) {
    const int n = h->n_wanted;
    for (int distance = 1; distance < KEY_BINS / 2 && h->n_wanted < DETAILS_A_READ; distance++) {
        for (int i = 0; i < n; i++) {
            if (h->wanted[i] >= distance)
                want(h, h->wanted[i] - distance);
            if (h->wanted[i] + distance < KEY_BINS)
                want(h, h->wanted[i] + distance);
        }
    }
}

/* Frees details that were not used since the last read, while there are more than MOST_DETAILS. */
static void free_unused_details(struct histogram *h) {
    for (int i = 0; i < KEY_BINS && h->n_details + h->n_wanted > MOST_DETAILS; i++) {
        if (h->details[i] && h->last_used[i] != h->n_reads) {
            free(h->details[i]);
            h->details[i] = NULL;
            h->n_details--;
        }
    }
}

/* Adds up the counts of all threads for the i-th wanted bin. */
static bool merge_detail(struct histogram *h, int i, int n_threads) {
    struct detail *total = calloc(1, sizeof *total);
    if (!total)
        return false;
    for (int t = 0; t < n_threads; t++)
        for (int j = 0; j < KEY_BINS; j++)
            total->count[j] += h->thread_details[t * DETAILS_A_READ + i].count[j];
    h->details[h->wanted[i]] = total;
    h->n_details++;
    return true;
}

static enum srcfind_status count_details(struct histogram *h, struct error *error) {
    const int n_threads = h->n_threads < DETAIL_THREADS ? h->n_threads : DETAIL_THREADS;
    want_neighbours(h);
    free_unused_details(h);
    h->thread_details = calloc((size_t)n_threads * DETAILS_A_READ, sizeof *h->thread_details);
    if (!h->thread_details)
        return error_memory(error, "clipping");
    memset(h->slot, -1, sizeof h->slot);
    for (int i = 0; i < h->n_wanted; i++)
        h->slot[h->wanted[i]] = (int16_t)i;
    const struct chunk_work work = {.work = detail_chunk, .context = h};
    enum srcfind_status status = chunks_run(h->source, h->threads, n_threads, &work, error);
    for (int i = 0; status == SRCFIND_OK && i < h->n_wanted; i++)
        if (!merge_detail(h, i, n_threads))
            status = error_memory(error, "clipping");
    free(h->thread_details);
    h->thread_details = NULL;
    h->n_wanted = 0;
    h->n_reads++;
    return status;
}

static void free_details(struct histogram *h) {
    for (int i = 0; i < KEY_BINS; i++) {
        free(h->details[i]);
        h->details[i] = NULL;
    }
    h->n_details = 0;
}

/* Lists and sorts the pixels that are left, and continues the clip on them. */
static enum srcfind_status clip_list(struct histogram *h, double kappa,
                                     struct srcfind_background *b, struct error *error) {
    const float low = fmaxf(exact_unkey(h->left.low), -FLT_MAX);
    const float high = fminf(exact_unkey(h->left.high), FLT_MAX);
    const struct scan_plan plan = scan_plan_between(low, high);
    struct scan scan;
    struct sorted_set set = {0};
    free_details(h);
    enum srcfind_status status = scan_image(&scan, h->source, &plan, NULL, h->threads, error);
    if (status == SRCFIND_OK)
        status = sorted_from_scan(&set, &scan, error);
    if (status == SRCFIND_OK) {
        clip_run(&set.set, kappa, b);
        sorted_extremes(&set, &b->min, &b->max);
    }
    sorted_set_clear(&set);
    scan_clear(&scan);
    return status;
}

static enum srcfind_status clip_by_details(struct histogram *h, double kappa, int64_t few,
                                           struct srcfind_background *b, struct error *error) {
    struct clip_set set = {.state = h, .select = histogram_select, .trim = histogram_trim};
    enum srcfind_status status = SRCFIND_OK;
    bool clipped = false;
    h->left = (struct key_range){0, UINT32_MAX};
    sum_kept(h, &set);
    b->n_kept = set.n;
    b->rounds = 0;
    if (set.n == 0)
        return SRCFIND_OK;
    while (status == SRCFIND_OK && !continue_clip(h, &set, kappa, &clipped, b)) {
        if (!clipped && set.n <= few)
            return clip_list(h, kappa, b, error);
        status = count_details(h, error);
    }
    return status;
}

enum srcfind_status histogram_clip(const struct pixel_source *source, double kappa,
                                   struct threads *threads, int64_t few,
                                   struct srcfind_background *b, struct error *error) {
    const int n_threads = threads_count(threads);
    struct histogram *h = calloc(1, sizeof *h);
    if (!h)
        return error_memory(error, "clipping");
    h->source = source;
    h->threads = threads;
    h->n_threads = n_threads;
    h->bins = calloc((size_t)n_threads * KEY_BINS, sizeof *h->bins);
    h->blanks = calloc((size_t)n_threads, sizeof *h->blanks);
    enum srcfind_status status =
        h->bins && h->blanks ? count_bins(h, error) : error_memory(error, "clipping");
    if (status == SRCFIND_OK)
        status = clip_by_details(h, kappa, few, b, error);
    b->n_blank = 0;
    for (int t = 0; h->blanks && t < n_threads; t++)
        b->n_blank += h->blanks[t];
    free_details(h);
    free(h->bins);
    free(h->blanks);
    free(h);
    return status;
}
