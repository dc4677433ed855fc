/* Smoothed images: the same samples in bands, on any number of threads and in all variants as in
 * the plainest way; and what smoothing does to a Gaussian. */
#include <stdlib.h>

#include "cpu/variants.h"
#include "smooth_oracle.h"
#include "unit.h"

enum { MOST_SIDE = 150, MOST_GAUSSIANS = 5 };

/* Takes samples, each row once. */
struct taken {
    float *samples;
    int64_t width;
    _Atomic int64_t n_rows;
};

static enum srcfind_status put(void *context, int64_t y, int64_t n, const float *samples,
                               struct error *error) {
    struct taken *t = context;
    (void)error;
    memcpy(t->samples + y * t->width, samples, (size_t)(n * t->width) * sizeof *samples);
    t->n_rows += n;
    return SRCFIND_OK;
}

/* Smooths; the result is to be freed. */
static float *smooth_all(const struct pixel_source *source, const struct smoothing *s,
                         const struct gaussian *g, int n, struct threads *threads,
                         int64_t *n_samples) {
    const struct model_box box = {0, 0, source->width, source->height, MODEL_CELL};
    struct taken taken = {malloc((size_t)(s->width * s->height) * sizeof(float)), s->width, 0};
    struct model model;
    struct error error;
    const struct smooth_work work = {s, source, &model, put, &taken};
    assert_true(model_make(&model, g, n, &box));
    assert_int_equal(smooth(&work, threads, n_samples, &error), SRCFIND_OK);
    assert_int_equal(taken.n_rows, s->height);
    model_clear(&model);
    return taken.samples;
}

static void as_in_the_plainest_way(void **state) {
    static const int64_t chunks[] = {1 << 16, 4096, 1000, 64, 7};
    struct random r = {5};
    int64_t n_blank = 0, n_all = 0;
    (void)state;
    for (int trial = 0; trial < 400 / UNIT_FEWER; trial++) {
        const int width = 1 + random_below(&r, MOST_SIDE), height = 1 + random_below(&r, MOST_SIDE);
        struct picture picture = picture_make(random_below(&r, PICTURE_KINDS), width, height, &r);
        struct smoothing s = random_smoothing(&r, width, height);
        struct gaussian g[MOST_GAUSSIANS];
        const int n = random_below(&r, MOST_GAUSSIANS + 1);
        int64_t n_samples;
        for (int i = 0; i < n; i++)
            g[i] = random_gaussian(&r, width, height);
        setenv("SRCFIND_SIMD", cpu_variants[random_below(&r, n_cpu_variants)].name, 1);
        struct memory_source *source = memory_source_make(
            &picture, chunks[random_below(&r, 5)], random_below(&r, 2), random_below(&r, 3) > 0);
        float *plain = smooth_plainly(&picture, &s, g, n);
        float *found = smooth_all(&source->source, &s, g, n, unit_threads(1 + random_below(&r, 7)),
                                  &n_samples);
        assert_int_equal(assert_same_samples(plain, found, s.width * s.height), n_samples);
        n_blank += s.width * s.height - n_samples;
        n_all += s.width * s.height;
        free(plain);
        free(found);
        smoothing_clear(&s);
        memory_source_free(source);
        picture_free(&picture);
    }
    assert_in_range(n_blank, n_all / 20, n_all * 19 / 20);
}

/* Bands of a large image overlap by a kernel; rows with blanks have weights of their own. */
static void in_bands(void **state) {
    enum { WIDTH = 700, HEIGHT = 7000 };
    struct random r = {6};
    struct picture picture = picture_make(6, WIDTH, HEIGHT, &r);
    struct memory_source *source = memory_source_make(&picture, 65000, false, true);
    struct smoothing s;
    const struct gaussian g = random_gaussian(&r, WIDTH, HEIGHT);
    int64_t n_samples;
    (void)state;
    assert_true(smoothing_make(&s, 30, 6, 25, WIDTH, HEIGHT));
    float *plain = smooth_plainly(&picture, &s, &g, 1);
    for (int n_threads = 1; n_threads <= 4; n_threads += 3) {
        float *found = smooth_all(&source->source, &s, &g, 1, unit_threads(n_threads), &n_samples);
        assert_same_samples(plain, found, s.width * s.height);
        free(found);
    }
    free(plain);
    smoothing_clear(&s);
    memory_source_free(source);
    picture_free(&picture);
}

/* A Gaussian becomes one whose squared widths are the sums, with the same flux: 1e-4 of its peak is
 * lost beyond four sigma of the kernel. */
static void a_gaussian_stays_one(void **state) {
    enum { SIDE = 200 };
    const double sigma = 4, kernel = 9;
    struct picture picture = {SIDE, SIDE, malloc(SIDE * SIDE * sizeof(float))};
    struct smoothing s;
    int64_t n_samples;
    (void)state;
    for (int i = 0; i < SIDE * SIDE; i++)
        picture.pixels[i] =
            (float)exp(-0.5 * (pow(i % SIDE - 100, 2) + pow(i / SIDE - 90, 2)) / (sigma * sigma));
    struct memory_source *source = memory_source_make(&picture, 1000, false, true);
    assert_int_equal(smoothing_step(hypot(sigma, kernel) * FIT_FWHM, SIDE, SIDE), 4);
    assert_true(smoothing_make(&s, kernel * FIT_FWHM, 4, 1, SIDE, SIDE));
    float *found = smooth_all(&source->source, &s, NULL, 0, unit_threads(1), &n_samples);
    const double wide = sigma * sigma + kernel * kernel, peak = sigma * sigma / wide;
    for (int64_t i = 0; i < s.width * s.height; i++) {
        const double x = (double)(s.step * (i % s.width)) + smoothing_centre(s.left, s.n_x) - 100;
        const double y = (double)(s.step * (i / s.width)) + smoothing_centre(s.top, s.n_y) - 90;
        const double expected = peak * exp(-0.5 * (x * x + y * y) / wide);
        assert_true(isnan(found[i]) || fabs((double)found[i] - expected) < 2e-4 * peak);
    }
    free(found);
    smoothing_clear(&s);
    memory_source_free(source);
    picture_free(&picture);
}

/* Samples are around the middle of the image, whatever its sides and the step are. */
static void in_the_middle(void **state) {
    (void)state;
    for (int64_t n = 1; n < 40; n++)
        for (int64_t step = 1; step <= n; step++)
            for (int64_t multiple = 1; multiple < 6; multiple++) {
                struct smoothing s;
                assert_true(smoothing_make(&s, 5, step, multiple, n, n + 1));
                const double first = smoothing_centre(s.left, s.n_x),
                             last = first + (double)(step * (s.width - 1));
                assert_true(first + last == (double)(n - 1));
                assert_true(2 * smoothing_centre(s.top, s.n_y) + (double)(step * (s.height - 1)) ==
                            (double)n);
                assert_in_range(s.width * step, n, n + step * multiple);
                assert_int_equal(s.width % multiple, 0);
                for (int64_t t = 0; t < s.n_x; t++)
                    assert_true(s.kernel_x[t] == s.kernel_x[s.n_x - 1 - t]);
                smoothing_clear(&s);
            }
}

static const uint32_t *read_nothing(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    (void)state, (void)first, (void)count, (void)buffer;
    error_set(error, SRCFIND_ERROR_INPUT, "the disk is gone");
    return NULL;
}

static void an_error_of_reading(void **state) {
    const struct pixel_source source = {
        .width = 50, .height = 50, .chunk_pixels = 100, .parallel = true, .read = read_nothing};
    const struct model_box box = {0, 0, 50, 50, MODEL_CELL};
    struct model model;
    struct smoothing s;
    struct error error;
    int64_t n_samples;
    (void)state;
    assert_true(model_make(&model, NULL, 0, &box));
    assert_true(smoothing_make(&s, 5, 1, 1, 50, 50));
    const struct smooth_work work = {&s, &source, &model, put, NULL};
    assert_int_equal(smooth(&work, unit_threads(3), &n_samples, &error), SRCFIND_ERROR_INPUT);
    assert_string_equal(error.text, "the disk is gone");
    smoothing_clear(&s);
    model_clear(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_in_the_plainest_way), cmocka_unit_test(in_bands),
        cmocka_unit_test(a_gaussian_stays_one),   cmocka_unit_test(in_the_middle),
        cmocka_unit_test(an_error_of_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
