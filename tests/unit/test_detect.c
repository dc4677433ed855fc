/* The CPU backend against the plain version, on ordinary and adversarial pictures; with any number
 * of threads, piece sizes, byte orders, scan variants and ways to clip. */
#include <stdio.h>
#include <stdlib.h>

#include "cpu/histogram.h"
#include "cpu/scan.h"
#include "unit.h"

/* Within an error of the last places of a long double sum. */
static void assert_near(long double value, long double expected, long double scale) {
    assert_true(fabsl(value - expected) <= 1e-15L * scale);
}

static void assert_background(const struct srcfind_background *b,
                              const struct srcfind_background *expected) {
    assert_int_equal(b->n_pixels, expected->n_pixels);
    assert_int_equal(b->n_blank, expected->n_blank);
    assert_int_equal(b->n_kept, expected->n_kept);
    assert_int_equal(b->rounds, expected->rounds);
    assert_int_equal(b->empty, expected->empty);
    assert_true(b->median == expected->median);
    assert_true(b->min == expected->min);
    assert_true(b->max == expected->max);
    assert_near(b->rms, expected->rms, fmax(expected->rms, 1e-15 * fabs(expected->mean)));
    assert_near(b->mean, expected->mean, fabs(expected->mean) + expected->rms);
}

/* Pixels are whole multiples of the unit where peak / threshold < 2^22 (see moments.h); beyond,
 * each is off by half a unit at most, and its position counts as often. */
static void assert_sum(int128 q, const struct island *i, long double expected, double threshold) {
    const long double reach = fmaxl(i->x_max - i->x_min, i->y_max - i->y_min) + 1;
    const bool exact = i->peak < threshold * 0x1p22;
    const long double rounding =
        exact ? 0 : ldexpl((long double)i->n_pixels * reach * reach / 2, i->unit);
    assert_true(fabsl(ldexpl((long double)q, i->unit) - expected) <=
                1e-15L * fabsl(expected) + rounding);
}

static void assert_island(const struct island *i, const struct oracle_island *expected,
                          double threshold) {
    assert_int_equal(i->n_pixels, expected->n_pixels);
    assert_int_equal(i->x_min, expected->x_min);
    assert_int_equal(i->x_max, expected->x_max);
    assert_int_equal(i->y_min, expected->y_min);
    assert_int_equal(i->y_max, expected->y_max);
    assert_int_equal(i->x_peak, expected->x_peak);
    assert_int_equal(i->y_peak, expected->y_peak);
    assert_true(i->peak == expected->peak);
    assert_int_equal(i->edge, expected->edge);
    assert_sum(i->q, i, expected->sum, threshold);
    assert_sum(i->qx, i, expected->x, threshold);
    assert_sum(i->qy, i, expected->y, threshold);
    assert_sum(i->qxx, i, expected->xx, threshold);
    assert_sum(i->qyy, i, expected->yy, threshold);
    assert_sum(i->qxy, i, expected->xy, threshold);
}

static void compare(const struct detection_result *result, const struct oracle_result *expected,
                    const struct detection *d) {
    const struct srcfind_background *b = &expected->background;
    const double threshold = (d->subtract_background ? b->median : 0) + d->island * b->rms;
    assert_background(&result->background, b);
    assert_int_equal(result->list.n, expected->n);
    for (int64_t i = 0; i < expected->n; i++)
        assert_island(&result->list.islands[i], &expected->islands[i], threshold);
}

/* Searches a picture in some way that must not matter. */
static void check(const struct picture *p, const struct detection *d,
                  const struct oracle_result *expected, struct random *r) {
    static const int64_t pieces[] = {1 << 16, 5000, 4096, 1000, 64};
    struct detection_result result;
    struct error error;
    struct memory_source *m = memory_source_make(p, pieces[random_below(r, 5)], random_below(r, 2),
                                                 random_below(r, 4) > 0);
    setenv("SRCFIND_SIMD", scan_variants[random_below(r, n_scan_variants)].name, 1);
    const enum srcfind_status status =
        cpu_detect(&m->source, d, 1 + random_below(r, 7), &result, &error);
    if (expected->background.n_kept == 0) {
        assert_int_equal(status, SRCFIND_ERROR_INPUT);
        assert_non_null(strstr(error.text, "finite"));
    } else {
        assert_int_equal(status, SRCFIND_OK);
        compare(&result, expected, d);
        free(result.list.islands);
    }
    memory_source_free(m);
}

static void check_histogram(const struct picture *p, const struct detection *d,
                            const struct oracle_result *expected, struct random *r) {
    struct srcfind_background b = {.n_pixels = (int64_t)p->width * p->height};
    struct error error;
    struct memory_source *m = memory_source_make(p, 4096, random_below(r, 2), true);
    assert_int_equal(histogram_clip(&m->source, d->kappa, 1 + random_below(r, 3), &b, &error),
                     SRCFIND_OK);
    if (expected->background.n_kept > 0)
        assert_background(&b, &expected->background);
    else
        assert_int_equal(b.n_kept, 0);
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
    if (by_histogram)
        check_histogram(&p, &d, &expected, &r);
    oracle_free(&expected);
    picture_free(&p);
}

static void small_pictures(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 4000; i++)
        check_picture(i % PICTURE_KINDS, 1 + random_below(&r, 70), 1 + random_below(&r, 70),
                      (uint64_t)i, false);
}

static void thin_pictures(void **state) {
    struct random r = {2};
    (void)state;
    for (int i = 0; i < 40 * PICTURE_KINDS; i++) {
        const int length = 1 + random_below(&r, 300);
        check_picture(i % PICTURE_KINDS, i % 3 ? length : 1, i % 3 ? 1 : length, (uint64_t)i,
                      false);
    }
}

static void histograms(void **state) {
    struct random r = {3};
    (void)state;
    for (int i = 0; i < 3 * PICTURE_KINDS; i++)
        check_picture(i % PICTURE_KINDS, 1 + random_below(&r, 90), 1 + random_below(&r, 90),
                      (uint64_t)i + 100, true);
}

/* Large enough for a plan from a sample. */
static void planned_pictures(void **state) {
    struct random r = {4};
    (void)state;
    for (int i = 0; i < 12 * PICTURE_KINDS; i++)
        check_picture(i % PICTURE_KINDS, 190 + random_below(&r, 200), 180 + random_below(&r, 200),
                      (uint64_t)i + 1000, false);
}

/* Ordinary noise must be clipped from one read: a plan that never holds would be found out only by
 * the clock. */
static void plans_hold(void **state) {
    const struct detection d = {3, 5, 5, true, 4, 1};
    struct random r = {5};
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct detection_result result;
        struct error error;
        struct picture p = picture_make(5, 512, 512, &r);
        struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
        assert_int_equal(cpu_detect(&m->source, &d, 2, &result, &error), SRCFIND_OK);
        assert_string_equal(result.timings.path, "one read");
        free(result.list.islands);
        memory_source_free(m);
        picture_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pictures), cmocka_unit_test(thin_pictures),
        cmocka_unit_test(histograms),     cmocka_unit_test(planned_pictures),
        cmocka_unit_test(plans_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
