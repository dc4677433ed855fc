#include "cpu/predict.h"

#include <stdlib.h>

#include "cpu/sample.h"
#include "cpu/clip_sorted.h"

enum {
    LIST_PIXELS = 1 << 15, /* so few pixels need no plan */
    SAMPLE_LEAST = 1 << 13,
    SAMPLE_MOST = 1 << 18, /* for images below this times PIXELS_A_SAMPLE_MOST */
    PIXELS_A_SAMPLE = 128,
    PIXELS_A_SAMPLE_MOST = 1024,
    STRETCH_VALUES = 1 << 10, /* of a stretch, where sample_rows of them are too few */
    SHARE_STEP = 8,           /* between the values of a sample that tell the list's share */
    SAMPLE_STEP = 8, /* between the pixels of a sample, so that a beam does not tie them together */
};

/* Above this share of the pixels, to list them takes as long as to list all; and more values than
 * this take too much memory, 4 bytes each. With the zero band listed, too, they are to stay below
 * half of that. */
static const double MOST_SHARE = 0.5, MOST_LISTED = 30 << 20, MOST_WITH_ZERO = 15 << 20;

/* Adds every step-th pixel of a stretch, if it is finite. */
static void add_stretch(struct sample *sample, const uint32_t *pixels, int64_t count, int64_t step,
                        bool swapped) {
    for (int64_t i = 0; i < count; i += step) {
        const float v = pixel_value(pixels, i, swapped);
        if (isfinite(v))
            sample->values[sample->n++] = v;
    }
}

/* How many stretches of the image a sample is read from. */
static int64_t count_stretches(const struct pixel_source *source, int64_t wanted) {
    const int64_t least = source->sample_rows, n = wanted / STRETCH_VALUES;
    return source->packed || n < least ? least : n;
}

/* Where one of the stretches begins: somewhere in its part of the image, lest what the image
 * repeats from row to row is all that is seen. */
static int64_t stretch_start(const struct pixel_source *source, int64_t i, int64_t part) {
    const uint64_t golden = 0x9e3779b97f4a7c15;
    const int64_t first = part * i + (int64_t)((uint128)part * (golden * (uint64_t)i) >> 64);
    return source->packed ? first - first % source->width : first;
}

/* Reads stretches from all over the image: rows where the source prefers them, else parts of rows.
 */
enum srcfind_status plan_draw_sample(const struct pixel_source *source, int64_t wanted,
                                     struct sample *sample, struct error *error) {
    const int64_t n = source->width * source->height;
    const int64_t stretches = count_stretches(source, wanted);
    int64_t length = source->packed ? source->width : wanted / stretches * SAMPLE_STEP;
    length = length < source->piece ? length : source->piece;
    const int64_t apart = stretches * length / SAMPLE_STEP; /* pixels that no beam ties together */
    if (source->packed && wanted > apart)
        wanted = apart > SAMPLE_LEAST ? apart : SAMPLE_LEAST;
    const int64_t step = stretches * length / wanted > 1 ? stretches * length / wanted : 1;
    enum srcfind_status status = SRCFIND_OK;
    uint32_t *buffer = malloc((size_t)length * sizeof *buffer);
    sample->values = malloc((size_t)(stretches * (length / step + 1)) * sizeof *sample->values);
    if (!buffer || !sample->values)
        status = error_memory(error, "drawing a sample");
    for (int64_t i = 0; status == SRCFIND_OK && i < stretches; i++) {
        const int64_t first = stretch_start(source, i, (n - length) / stretches);
        const uint32_t *pixels = source->read(source->state, first, length, buffer, error);
        if (pixels)
            add_stretch(sample, pixels, length, step, source->swapped);
        else
            status = SRCFIND_ERROR_INPUT;
    }
    free(buffer);
    return status;
}

/* More of a large image, so that the list stays short enough for the memory. */
int64_t plan_sample_size(int64_t n) {
    const int64_t size = n / PIXELS_A_SAMPLE, least = n / PIXELS_A_SAMPLE_MOST;
    const int64_t most = least < SAMPLE_MOST ? SAMPLE_MOST : least;
    return size < SAMPLE_LEAST ? SAMPLE_LEAST : size > most ? most : size;
}

/* The share of the sample that the plan would list, by some of its values. */
static double listed_share(const struct scan_plan *p, const struct sample *sample) {
    int64_t n = 0, n_listed = 0;
    for (int64_t i = 0; i < sample->n; i += SHARE_STEP, n++) {
        const float v = sample->values[i];
        const bool in_middle = (v >= p->median_low) & (v <= p->median_high);
        n_listed += (v != 0) & (in_middle | (v <= p->core_low) | (v >= p->core_high));
    }
    return (double)n_listed / (double)n;
}

static bool fits(const struct scan_plan *plan, int64_t n, double most) {
    return plan->share < MOST_SHARE && plan->share * (double)n < most;
}

/* Makes the median bracket include the zero band, where the two are near each other and the list
 * does not become too long: to list small pixels takes less time than to look out for them. */
static void include_zero(struct scan_plan *plan, const struct sample *sample, int64_t n) {
    struct scan_plan wide = *plan;
    wide.median_low = fminf(plan->median_low, -plan->zero_band);
    wide.median_high = fmaxf(plan->median_high, plan->zero_band);
    const float both = plan->median_high - plan->median_low + 2 * plan->zero_band;
    if (wide.median_high - wide.median_low < 2 * both && wide.median_low > plan->core_low &&
        wide.median_high < plan->core_high) {
        wide.share = listed_share(&wide, sample);
        *plan = fits(&wide, n, MOST_WITH_ZERO) ? wide : *plan;
    }
}

enum srcfind_status plan_scan(const struct pixel_source *source, const struct detection *detection,
                              struct scan_plan *plan, bool *useful, struct error *error) {
    const int64_t n = source->width * source->height;
    struct sample sample = {0};
    struct sample_clip clip;
    *useful = true;
    *plan = scan_plan_all(-INFINITY); /* keeps all pixels, so that one read will do */
    if (n <= LIST_PIXELS)
        return SRCFIND_OK;
    *useful = false;
    enum srcfind_status status = plan_draw_sample(source, plan_sample_size(n), &sample, error);
    if (status == SRCFIND_OK && sample.n > 0) {
        *useful = sample_clip(&clip, sample.values, sample.n, detection->kappa) &&
                  scan_plan_predict(plan, &clip.path, clip.median, clip.rms, sample.n, detection);
        plan->share = listed_share(plan, &sample);
        *useful = *useful && fits(plan, n, MOST_LISTED);
        if (*useful)
            include_zero(plan, &sample, n);
    }
    if (status == SRCFIND_OK && !*useful && n <= WHOLE_MOST) {
        *plan = scan_plan_all(INFINITY);
        *useful = true;
    }
    free(sample.values);
    return status;
}
