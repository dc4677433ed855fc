#include "smooth_oracle.h"

#include <stdlib.h>

#include "unit.h"

/* A pixel less the Gaussians; NaN where it is blank. */
static float pixel_less(const struct picture *p, const struct gaussian *g, int n, int64_t x,
                        int64_t y) {
    const float value = p->pixels[y * p->width + x];
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const struct gaussian_span span = gaussian_span_at(&g[i], (double)y);
        if ((double)x >= ceil(span.centre - span.half) &&
            (double)x <= floor(span.centre + span.half))
            sum += gaussian_at(&g[i], (double)x, (double)y);
    }
    const float rest = (float)((double)value - sum);
    return isfinite(value) && isfinite(rest) ? rest : NAN;
}

/* The sum along row y from column x on, and that of the kernel. */
static void sum_row(const float *pixels, const struct picture *p, const struct smoothing *s,
                    int64_t x, int64_t y, float *sum, float *weight) {
    *sum = *weight = 0;
    for (int64_t t = 0; t < s->n_x; t++) {
        const int64_t at = x + t;
        const bool is_inside = at >= 0 && at < p->width && y >= 0 && y < p->height;
        if (!is_inside || isnan(pixels[y * p->width + at]))
            continue;
        *sum += s->kernel_x[t] * pixels[y * p->width + at];
        *weight += s->kernel_x[t];
    }
}

static bool is_blank_at(const float *pixels, const struct picture *p, double x, double y) {
    return x < 0 || x >= p->width || y < 0 || y >= p->height ||
           isnan(pixels[(int64_t)y * p->width + (int64_t)x]);
}

/* The sample whose kernel begins at (x, y). */
static float sample_at(const float *pixels, const struct picture *p, const struct smoothing *s,
                       int64_t x, int64_t y) {
    const double middle_x = (double)x + (double)(s->n_x - 1) / 2,
                 middle_y = (double)y + (double)(s->n_y - 1) / 2;
    float sum = 0, weight = 0;
    for (int64_t t = 0; t < s->n_y; t++) {
        float along, weight_along;
        sum_row(pixels, p, s, x, y + t, &along, &weight_along);
        sum += s->kernel_y[t] * along;
        weight += s->kernel_y[t] * weight_along;
    }
    bool is_blank = weight < 0.9F;
    for (int k = 0; k < 4; k++)
        is_blank = is_blank || is_blank_at(pixels, p, k & 1 ? ceil(middle_x) : floor(middle_x),
                                           k & 2 ? ceil(middle_y) : floor(middle_y));
    return is_blank || !isfinite(sum / weight) ? NAN : sum / weight;
}

float *smooth_plainly(const struct picture *p, const struct smoothing *s,
                      const struct gaussian *gaussians, int n) {
    float *pixels = malloc((size_t)p->width * (size_t)p->height * sizeof *pixels);
    float *samples = malloc((size_t)(s->width * s->height) * sizeof *samples);
    assert_non_null(pixels);
    assert_non_null(samples);
    for (int64_t i = 0; i < (int64_t)p->width * p->height; i++)
        pixels[i] = pixel_less(p, gaussians, n, i % p->width, i / p->width);
    for (int64_t i = 0; i < s->width * s->height; i++)
        samples[i] = sample_at(pixels, p, s, s->step * (i % s->width) + s->left,
                               s->step * (i / s->width) + s->top);
    free(pixels);
    return samples;
}

struct gaussian random_gaussian(struct random *r, int width, int height) {
    const double major = 0.7 + 60 * pow(random_unit(r), 4), minor = 0.5 + 4 * random_unit(r);
    const double angle = M_PI * random_unit(r), c = cos(angle), s = sin(angle);
    const double a = 1 / (major * major), b = 1 / (minor * minor);
    return (struct gaussian){
        .peak = 20 * random_unit(r) - 10,
        .x = (width + 40) * random_unit(r) - 20,
        .y = (height + 40) * random_unit(r) - 20,
        .form = {.xx = a * c * c + b * s * s, .yy = a * s * s + b * c * c, .xy = (a - b) * c * s}};
}

struct smoothing random_smoothing(struct random *r, int width, int height) {
    const double kernel = 0.5 + 40 * pow(random_unit(r), 3);
    const int64_t step = smoothing_step(kernel + 5 * random_unit(r), width, height);
    const int multiple = random_below(r, 3) ? 1 : 1 + random_below(r, 9);
    struct smoothing smoothing;
    assert_true(smoothing_make(&smoothing, kernel, step, multiple, width, height));
    assert_int_equal(smoothing.width % multiple, 0);
    assert_int_equal(smoothing.height % multiple, 0);
    return smoothing;
}

int64_t assert_same_samples(const float *a, const float *b, int64_t n) {
    int64_t n_samples = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(isnan(a[i]), isnan(b[i]));
        if (!isnan(a[i]))
            ASSERT_SAME(a[i], b[i]);
        n_samples += !isnan(a[i]);
    }
    return n_samples;
}
