/* How the scan is planned from a sample.
 *
 * 1. A sample of one pixel in 128 to 1024, and of 2^13 values at least, is drawn from ranges all
 *    over the image. Ranges begin at pseudo-random offsets (a Weyl sequence), the same in each run;
 *    their sampled pixels are some 8 apart, so that beams do not correlate them.
 * 2. sample_clip clips the sample by counts in bins (sample.c): its path tells the median and the
 *    bounds of each round.
 * 3. scan_plan_predict widens these by the errors of the sample to the median bracket, the bounds
 *    of the inliers and the threshold of candidates.
 * 4. The share of the pixels that the scan would list follows from every eighth value of the
 *    sample. If the list would be too long with candidates, they are left to a second scan. If it
 *    is too long without them, too, most values are only counted (counted.h), and those are listed
 *    that are near a median or a bound of the sample's clip, as many as there is room for. If there
 *    is room for none, there is no plan, and the image is sorted or clipped by histograms.
 *
 * Always: the plan changes the time only. The clip verifies it, and refuses if it was wrong.
 *
 * Cost: some eight pixels are read for each value of the sample: 1% of a large image, 6% of one of
 * 2^20 pixels, most of a smaller one; 4 bytes a value. */
#include "cpu/predict.h"

#include <stdlib.h>
#include <string.h>

#include "common/hook.h"
#include "cpu/clip_sorted.h"
#include "cpu/sample.h"

enum {
    LIST_PIXELS = 1 << 15, /* up to this number, all pixels are listed without a sample */
    SAMPLE_LEAST = 1 << 13,
    SAMPLE_MOST = 1 << 18, /* for images below this times PIXELS_A_SAMPLE_MOST */
    PIXELS_A_SAMPLE = 128,
    PIXELS_A_SAMPLE_MOST = 1024,
    RANGE_VALUES = 1 << 10, /* values of a range, if the sample has more than sample_rows ranges */
    RANGES_A_THREAD = 8,
    SHARE_STEP = 8,  /* every SHARE_STEP-th value of a sample estimates the share of the list */
    SAMPLE_STEP = 8, /* least distance of a sample's pixels, so that beams do not correlate them */
};

/* A list of more than MOST_SHARE of the pixels takes as long as a list of all pixels. The zero band
 * is listed only if the list then has fewer than MOST_WITH_ZERO values. */
static const double MOST_SHARE = 0.5, MOST_WITH_ZERO = 15 << 20;

/* The part of its distance from the median by which a bound may be uncertain. */
static const double UNCERTAIN = 0.5;

int64_t predict_most_listed(void) {
    static const int64_t usual = 30 << 20;
    const char *for_tests = hook("SRCFIND_MOST_LISTED");
    return for_tests ? strtoll(for_tests, NULL, 10) : usual;
}

/* The number of ranges from which a sample is read. */
static int64_t count_ranges(const struct pixel_source *source, int64_t wanted) {
    const int64_t least = source->sample_rows, n = wanted / RANGE_VALUES;
    return source->packed || n < least ? least : n;
}

/* The first pixel of range i. Ranges begin at a pseudo-random offset, less than `apart` pixels,
 * from i * apart: if an image repeats a pattern from row to row, regular ranges would see only a
 * part of the pattern. */
static int64_t range_start(const struct pixel_source *source, int64_t i, int64_t apart) {
    const uint64_t golden = 0x9e3779b97f4a7c15;
    const int64_t first = apart * i + (int64_t)((uint128)apart * (golden * (uint64_t)i) >> 64);
    return source->packed ? first - first % source->width : first;
}

/* A sample while it is drawn. The ranges are divided into n_shares shares. */
struct sample_draw {
    const struct pixel_source *source;
    int64_t n_ranges, length, step; /* length of a range in pixels; every step-th pixel is taken */
    int64_t capacity;               /* most values of a range */
    float *values;                  /* `capacity` elements for each range */
    int64_t *n;                     /* number of values of each range */
    int n_shares;
};

/* Takes every step-th pixel of a range, if it is finite. Returns the number of values. */
static int64_t take_values(const struct sample_draw *d, const uint32_t *pixels, float *values) {
    int64_t n = 0;
    for (int64_t i = 0; i < d->length; i += d->step) {
        const float v = pixel_value(pixels, i, d->source->swapped);
        values[n] = v;
        n += isfinite(v) != 0;
    }
    return n;
}

static enum srcfind_status draw_share(void *context, int share, struct error *error) {
    const struct sample_draw *d = context;
    const struct pixel_source *source = d->source;
    const int64_t apart = (source->width * source->height - d->length) / d->n_ranges;
    const int64_t end = threads_share(d->n_ranges, d->n_shares, share + 1);
    uint32_t *buffer = malloc((size_t)d->length * sizeof *buffer);
    const uint32_t *pixels = buffer;
    if (!buffer)
        return error_memory(error, "drawing a sample");
    for (int64_t i = threads_share(d->n_ranges, d->n_shares, share); pixels && i < end; i++) {
        pixels =
            source->read(source->state, range_start(source, i, apart), d->length, buffer, error);
        if (pixels)
            d->n[i] = take_values(d, pixels, d->values + i * d->capacity);
    }
    const enum srcfind_status status = pixels ? SRCFIND_OK : SRCFIND_ERROR_INPUT;
    free(buffer);
    return status;
}

/* Moves the values of all ranges together, without gaps. */
static void gather(const struct sample_draw *d, struct sample *sample) {
    for (int64_t i = 0; i < d->n_ranges; i++) {
        memmove(d->values + sample->n, d->values + i * d->capacity,
                (size_t)d->n[i] * sizeof *d->values);
        sample->n += d->n[i];
    }
}

/* Ranges are rows if the source is packed, else pieces of rows. */
enum srcfind_status predict_draw_sample(const struct pixel_source *source, int64_t wanted,
                                        struct threads *threads, struct sample *sample,
                                        struct error *error) {
    struct sample_draw d = {.source = source, .n_ranges = count_ranges(source, wanted)};
    d.length = source->packed ? source->width : wanted / d.n_ranges * SAMPLE_STEP;
    d.length = d.length < source->chunk_pixels ? d.length : source->chunk_pixels;
    const int64_t uncorrelated = d.n_ranges * d.length / SAMPLE_STEP;
    if (source->packed && wanted > uncorrelated)
        wanted = uncorrelated > SAMPLE_LEAST ? uncorrelated : SAMPLE_LEAST;
    d.step = d.n_ranges * d.length / wanted > 1 ? d.n_ranges * d.length / wanted : 1;
    d.capacity = d.length / d.step + 1;
    d.n_shares = source->parallel ? threads_shares(threads, d.n_ranges, RANGES_A_THREAD) : 1;
    sample->values = d.values = malloc((size_t)(d.n_ranges * d.capacity) * sizeof *d.values);
    d.n = malloc((size_t)d.n_ranges * sizeof *d.n);
    const enum srcfind_status status = d.values && d.n
                                           ? threads_try(threads, d.n_shares, draw_share, &d, error)
                                           : error_memory(error, "drawing a sample");
    if (status == SRCFIND_OK)
        gather(&d, sample);
    free(d.n);
    return status;
}

/* A large image has a larger sample, so that the prediction is better and the list stays short
 * enough for the memory. */
int64_t predict_sample_size(int64_t n) {
    const int64_t size = n / PIXELS_A_SAMPLE, least = n / PIXELS_A_SAMPLE_MOST;
    const int64_t most = least < SAMPLE_MOST ? SAMPLE_MOST : least;
    return size < SAMPLE_LEAST ? SAMPLE_LEAST : size > most ? most : size;
}

/* The share of the sample that the plan would list, estimated from every SHARE_STEP-th value.
 * bin_states: NULL if all values are listed. */
static double listed_share(const struct scan_plan *p, const uint8_t *bin_states,
                           const struct sample *sample) {
    int64_t n = 0, n_listed = 0;
    for (int64_t i = 0; i < sample->n; i += SHARE_STEP, n++) {
        const float v = sample->values[i];
        const bool in_bracket = (v >= p->median_low) & (v <= p->median_high);
        const bool is_outlier = (v <= p->inlier_low) | (v >= p->inlier_high);
        const bool is_listed = !bin_states || bin_states[key_bin_of(exact_key(v))] == BIN_LISTED;
        n_listed += (v != 0) & (in_bracket | is_outlier) & is_listed;
    }
    return (double)n_listed / (double)n;
}

/* Whether the list of n pixels scanned by the plan is short enough. */
static bool fits(const struct scan_plan *plan, int64_t n, double most) {
    return plan->share < MOST_SHARE && plan->share * (double)n < most;
}

/* Extends the median bracket over the zero band, if both are near each other and the list stays
 * short enough: listing small pixels takes less time than testing for them. */
static void include_zero(struct scan_plan *plan, const struct sample *sample, int64_t n) {
    struct scan_plan wide = *plan;
    wide.median_low = fminf(plan->median_low, -plan->zero_band);
    wide.median_high = fmaxf(plan->median_high, plan->zero_band);
    const float both = plan->median_high - plan->median_low + 2 * plan->zero_band;
    if (wide.median_high - wide.median_low < 2 * both && wide.median_low > plan->inlier_low &&
        wide.median_high < plan->inlier_high) {
        wide.share = listed_share(&wide, NULL, sample);
        *plan = fits(&wide, n, MOST_WITH_ZERO) ? wide : *plan;
    }
}

/* Makes the plan from the clip of a sample. False if it is not useful. */
static bool make_plan(struct scan_plan *plan, const struct sample_clip *clip,
                      const struct sample *sample, int64_t n, const struct detection *detection) {
    plan->share = 1;
    if (!scan_plan_predict(plan, &clip->path, clip->median, clip->rms, sample->n, detection))
        return false;
    plan->share = listed_share(plan, NULL, sample);
    return fits(plan, n, (double)predict_most_listed());
}

static void list_bins(uint8_t *states, double low, double high) {
    const int first = key_bin_of(exact_key((float)low)), last = key_bin_of(exact_key((float)high));
    memset(states + first, BIN_LISTED, (size_t)(last - first + 1));
}

/* Has those bins listed in which a median or a bound of the clip may be, as scan_plan_predict has
 * it, by a margin in standard errors, and those that reach into the inliers. Bounds that a few
 * bright pixels make uncertain would list too many: where the clip needs them, another scan lists
 * them. */
static void list_near_bounds(uint8_t *states, const struct scan_plan *plan,
                             const struct sample_clip *clip, double margin) {
    memset(states, BIN_COUNTED, KEY_BINS);
    list_bins(states, plan->inlier_low, plan->inlier_low);
    list_bins(states, plan->inlier_high, plan->inlier_high);
    for (int i = 0; i < clip->n_rounds; i++) {
        const struct sample_round *round = &clip->round[i];
        const double near_median = margin * clip->median_error,
                     near = near_median + 2 * margin * round->error;
        list_bins(states, round->median - near_median, round->median + near_median);
        if (near > UNCERTAIN * (round->high - round->median))
            continue;
        list_bins(states, round->low - near, round->low + near);
        list_bins(states, round->high - near, round->high + near);
    }
}

/* Has most values only counted, where a plan lists too many. With the margin that lists as many as
 * there is room for, another scan is least probable. False where memory ran out. */
static bool plan_bins(struct prediction *p, const struct sample_clip *clip,
                      const struct sample *sample, int64_t n) {
    const struct scan_plan *plan = &p->plan;
    if (plan->share >= MOST_SHARE ||
        key_bin_of(exact_key(plan->median_low)) == key_bin_of(exact_key(plan->inlier_high)))
        return true;
    p->bin_states = malloc(KEY_BINS);
    if (!p->bin_states)
        return false;
    for (double margin = SCAN_PLAN_MARGIN; margin >= 0 && !p->is_useful; margin--) {
        list_near_bounds(p->bin_states, plan, clip, margin);
        p->plan.share = listed_share(plan, p->bin_states, sample);
        p->is_useful = fits(plan, n, (double)predict_most_listed());
    }
    return true;
}

/* Makes the plan from the clip of a sample: with candidates, else without them (a second scan reads
 * them), else with values that are only counted. False where memory ran out. */
static bool plan_scan(struct prediction *p, const struct sample_clip *clip,
                      const struct sample *sample, int64_t n, const struct detection *detection) {
    struct detection no_candidates = *detection;
    struct scan_plan with, without;
    no_candidates.island = INFINITY;
    const bool with_fits = detection->box == 0 && make_plan(&with, clip, sample, n, detection);
    const bool without_fits = !with_fits && make_plan(&without, clip, sample, n, &no_candidates);
    const bool takes_with =
        with_fits || (!without_fits && detection->box == 0 && with.share < MOST_SHARE);
    p->plan = takes_with ? with : without;
    p->is_useful = with_fits || without_fits;
    if (!p->is_useful)
        return plan_bins(p, clip, sample, n);
    include_zero(&p->plan, sample, n);
    return true;
}

void prediction_clear(struct prediction *p) {
    free(p->bin_states);
    *p = (struct prediction){0};
}

enum srcfind_status predict_scan(const struct pixel_source *source,
                                 const struct detection *detection, struct threads *threads,
                                 struct prediction *p, struct error *error) {
    const int64_t n = source->width * source->height;
    struct sample sample = {0};
    struct sample_clip clip;
    /* A plan that keeps all pixels: one read is enough. */
    *p = (struct prediction){.is_useful = true, .plan = scan_plan_all(-INFINITY)};
    if (n <= LIST_PIXELS)
        return SRCFIND_OK;
    p->is_useful = false;
    enum srcfind_status status =
        predict_draw_sample(source, predict_sample_size(n), threads, &sample, error);
    if (status == SRCFIND_OK && sample_clip(&clip, sample.values, sample.n, detection->kappa) &&
        !plan_scan(p, &clip, &sample, n, detection))
        status = error_memory(error, "planning to read the image");
    if (status == SRCFIND_OK && !p->is_useful && n <= SORTED_MOST) {
        prediction_clear(p);
        *p = (struct prediction){.is_useful = true, .plan = scan_plan_all(INFINITY)};
    }
    free(sample.values);
    return status;
}
