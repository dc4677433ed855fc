#include "cpu/plan.h"

#include <stdlib.h>

#include "cpu/sample.h"

enum {
    LIST_PIXELS = 1 << 15, /* so few pixels need no plan */
    SORT_PIXELS = 1 << 22, /* so few are sorted sooner than a histogram is made */
    SAMPLE_LEAST = 1 << 13,
    SAMPLE_MOST = 1 << 18,
    PIXELS_A_SAMPLE = 64,
    SHARE_STEP = 8,
    SAMPLE_STEP = 8, /* between the pixels of a sample, so that a beam does not tie them together */
};

/* Above this share of the pixels, a list is no faster than a histogram; and with more values than
 * this it takes too much memory: 8 bytes each while it is put in order. */
static const double MOST_SHARE = 0.25, MOST_LISTED = 16 << 20;

/* Adds every SAMPLE_STEP-th finite pixel of a stretch. */
static void add_stretch(struct sample *sample, const uint32_t *pixels, int64_t count, int64_t step,
                        bool swapped) {
    for (int64_t i = 0; i < count; i += step) {
        const float v = pixel_value(pixels[i], swapped);
        if (isfinite(v))
            sample->values[sample->n++] = v;
    }
}

/* Reads evenly spaced stretches: rows where the source prefers them, else parts of rows. */
enum srcfind_status plan_draw_sample(const struct pixel_source *source, int64_t wanted,
                                     struct sample *sample, struct error *error) {
    const int64_t n = source->width * source->height;
    const int64_t stretches = source->sample_rows;
    int64_t length = source->packed ? source->width : wanted / stretches * SAMPLE_STEP;
    length = length < source->piece ? length : source->piece;
    const int64_t step = stretches * length / wanted > 1 ? stretches * length / wanted : 1;
    enum srcfind_status status = SRCFIND_OK;
    uint32_t *buffer = malloc((size_t)length * sizeof *buffer);
    sample->values = malloc((size_t)(stretches * (length / step + 1)) * sizeof *sample->values);
    if (!buffer || !sample->values)
        status = error_memory(error, "drawing a sample");
    for (int64_t i = 0; status == SRCFIND_OK && i < stretches; i++) {
        int64_t first = (n - length) / stretches * i;
        if (source->packed)
            first -= first % source->width;
        const uint32_t *pixels = source->read(source->state, first, length, buffer, error);
        if (pixels)
            add_stretch(sample, pixels, length, step, source->swapped);
        else
            status = SRCFIND_ERROR_INPUT;
    }
    free(buffer);
    return status;
}

int64_t plan_sample_size(int64_t n) {
    const int64_t size = n / PIXELS_A_SAMPLE;
    return size < SAMPLE_LEAST ? SAMPLE_LEAST : size > SAMPLE_MOST ? SAMPLE_MOST : size;
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
        *useful = *useful && plan->share < MOST_SHARE && plan->share * (double)n < MOST_LISTED;
    }
    if (status == SRCFIND_OK && !*useful && n <= SORT_PIXELS) {
        *plan = scan_plan_all(INFINITY);
        *useful = true;
    }
    free(sample.values);
    return status;
}
