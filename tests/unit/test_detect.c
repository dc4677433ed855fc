/* The CPU backend against the plain version, on ordinary and adversarial pictures; with any number
 * of threads, chunk sizes, byte orders, scan variants and ways to clip. */
#include <stdio.h>
#include <stdlib.h>

#include "agreement.h"
#include "cpu/predict.h"
#include "cpu/variants.h"

/* An island's runs are its pixels, in order: of number, box and peak, and of no other island. */
static void assert_pixels(const struct picture *p, const struct segments *s, int64_t i,
                          bool *taken) {
    const struct island *island = &s->islands[i];
    int64_t count = 0, before = -1;
    float peak = -INFINITY;
    for (int64_t k = s->first_run[i]; k < s->first_run[i + 1]; k++) {
        const struct run *r = &s->runs[k];
        assert_true(r->x0 >= island->x_min && r->x1 <= island->x_max);
        assert_true(r->y >= island->y_min && r->y <= island->y_max);
        for (int32_t x = r->x0; x <= r->x1; x++, count++) {
            const int64_t at = (int64_t)r->y * p->width + x;
            assert_true(at > before && !taken[at]);
            taken[at] = true;
            before = at;
            peak = fmaxf(peak, p->pixels[at]);
        }
    }
    assert_int_equal(count, island->n_pixels);
    assert_true(peak == island->peak);
}

static void assert_all_pixels(const struct picture *p, const struct segments *s) {
    bool *taken = calloc((size_t)p->width * (size_t)p->height, sizeof *taken);
    for (int64_t i = 0; i < s->n; i++)
        assert_pixels(p, s, i, taken);
    free(taken);
}

/* Searches a picture in some way that must not matter. */
static void check(const struct picture *p, const struct detection *wanted,
                  const struct oracle_result *expected, struct random *r) {
    static const int64_t chunks[] = {1 << 16, 5000, 4096, 1000, 64};
    struct detection d = *wanted;
    struct detection_result result;
    struct error error;
    struct memory_source *m = memory_source_make(p, chunks[random_below(r, 5)], random_below(r, 2),
                                                 random_below(r, 4) > 0);
    d.keep_runs = random_below(r, 2);
    char most_listed[32];
    snprintf(most_listed, sizeof most_listed, "%d", random_below(r, p->width * p->height / 5 + 1));
    setenv("SRCFIND_SIMD", cpu_variants[random_below(r, n_cpu_variants)].name, 1);
    setenv("SRCFIND_MOST_LISTED", most_listed, 1);
    const enum srcfind_status status =
        cpu_detect(&m->source, &d, unit_threads(1 + random_below(r, 7)), &result, &error);
    if (expected->background.n_kept == 0) {
        assert_int_equal(status, SRCFIND_ERROR_INPUT);
        assert_non_null(strstr(error.text, "finite"));
    } else {
        assert_int_equal(status, SRCFIND_OK);
        assert_agrees(&result, expected, &d);
        if (d.keep_runs)
            assert_all_pixels(p, &result.segments);
        else
            assert_true(!result.segments.runs && !result.segments.first_run);
        segments_clear(&result.segments);
    }
    memory_source_free(m);
}

static void check_picture(int kind, int width, int height, uint64_t seed, bool by_histogram) {
    struct random r = {seed};
    struct picture p = picture_make(kind, width, height, &r);
    const struct detection d = random_detection(&r);
    struct oracle_result expected = oracle_detect(&p, &d);
    print_message("%s, %d x %d, seed %llu\n", picture_name(kind), width, height,
                  (unsigned long long)seed);
    check(&p, &d, &expected, &r);
    if (by_histogram) {
        const int n_threads = 1 + random_below(&r, 3);
        assert_histogram_agrees(&p, d.kappa, &expected, n_threads, random_below(&r, 2));
    }
    oracle_free(&expected);
    picture_free(&p);
}

static void small_pictures(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 4000 / UNIT_FEWER; i++)
        check_picture(i % PICTURE_KINDS, 1 + random_below(&r, 70), 1 + random_below(&r, 70),
                      (uint64_t)i, false);
}

static void thin_pictures(void **state) {
    struct random r = {2};
    (void)state;
    for (int i = 0; i < 40 * PICTURE_KINDS / UNIT_FEWER; i++) {
        const int length = 1 + random_below(&r, 300);
        check_picture(i % PICTURE_KINDS, i % 3 ? length : 1, i % 3 ? 1 : length, (uint64_t)i,
                      false);
    }
}

static void histograms(void **state) {
    struct random r = {3};
    (void)state;
    for (int i = 0; i < 3 * PICTURE_KINDS / UNIT_FEWER + 2; i++)
        check_picture(i % PICTURE_KINDS, 1 + random_below(&r, 90), 1 + random_below(&r, 90),
                      (uint64_t)i + 100, true);
}

/* Large enough for a plan from a sample. */
static void planned_pictures(void **state) {
    struct random r = {4};
    (void)state;
    for (int i = 0; i < (UNIT_FEWER > 1 ? 2 : 6) * PICTURE_KINDS; i++)
        check_picture(i % PICTURE_KINDS, 190 + random_below(&r, 200), 180 + random_below(&r, 200),
                      (uint64_t)i + 1000, false);
}

/* Many blank pixels in chunks that are no multiple of 64: threads write the same words of the
 * bitmap, which ThreadSanitizer sees only where they do so at the same time. */
static void shared_words(void **state) {
    const struct detection d = detection_with(3);
    struct random r = {6};
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct detection_result result;
        struct error error;
        struct picture p = picture_make(5, 300, 300, &r);
        for (int64_t k = 0; k < 300 * 300; k++)
            if (k % 3)
                p.pixels[k] = NAN;
        struct oracle_result expected = oracle_detect(&p, &d);
        struct memory_source *m = memory_source_make(&p, 100, true, true);
        assert_int_equal(cpu_detect(&m->source, &d, unit_threads(7), &result, &error), SRCFIND_OK);
        assert_agrees(&result, &expected, &d);
        segments_clear(&result.segments);
        memory_source_free(m);
        oracle_free(&expected);
        picture_free(&p);
    }
}

/* Ordinary noise must be clipped from one read: a plan that never holds would be found out only by
 * the clock. */
static void plans_hold(void **state) {
    const struct detection d = detection_with(3);
    struct random r = {5};
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct detection_result result;
        struct error error;
        const int side = i == 0 ? 2100 : 512; /* the first one is too large to be sorted whole */
        struct picture p = picture_make(5, side, side, &r);
        unsetenv("SRCFIND_MOST_LISTED");
        struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
        assert_int_equal(cpu_detect(&m->source, &d, unit_threads(2), &result, &error), SRCFIND_OK);
        assert_string_equal(result.timings.clip_method, "one read");
        segments_clear(&result.segments);
        memory_source_free(m);
        picture_free(&p);
    }
}

/* Noise with a pixel in six above it: where too many values would be listed, most are only counted.
 * A few pixels that a sample may miss move the bounds of the first rounds to values that are not
 * listed, so that another read lists them, unless the candidates are kept apart. */
static void most_are_only_counted(void **state) {
    enum { SIDE = 512, PIXELS = SIDE * SIDE };
    struct detection d = detection_with(3);
    struct random r = {9};
    int n_again = 0;
    (void)state;
    setenv("SRCFIND_MOST_LISTED", "60000", 1);
    for (int i = 0; i < 10; i++) {
        struct prediction prediction;
        struct detection_result result;
        struct error error;
        d.island = i % 2 ? 3 : d.threshold;
        struct picture p = picture_make(0, SIDE, SIDE, &r);
        for (int64_t k = 0; k < PIXELS; k++)
            p.pixels[k] = (float)(random_normal(&r) + (k % 6       ? 0
                                                       : k % 30000 ? exp(6 * random_unit(&r))
                                                                   : 20000));
        struct oracle_result expected = oracle_detect(&p, &d);
        struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
        assert_int_equal(predict_scan(&m->source, &d, NULL, &prediction, &error), SRCFIND_OK);
        assert_true(prediction.is_useful && prediction.bin_states);
        prediction_clear(&prediction);
        assert_int_equal(cpu_detect(&m->source, &d, unit_threads(2), &result, &error), SRCFIND_OK);
        assert_agrees(&result, &expected, &d);
        n_again += strcmp(result.timings.clip_method, "two reads") == 0;
        segments_clear(&result.segments);
        memory_source_free(m);
        oracle_free(&expected);
        picture_free(&p);
    }
    unsetenv("SRCFIND_MOST_LISTED");
    assert_in_range(n_again, 3, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pictures),
        cmocka_unit_test(thin_pictures),
        cmocka_unit_test(histograms),
        cmocka_unit_test(planned_pictures),
        cmocka_unit_test(shared_words),
        cmocka_unit_test(plans_hold),
        cmocka_unit_test(most_are_only_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
