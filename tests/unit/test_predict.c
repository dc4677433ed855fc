/* A plan is a prediction: whatever it says, the clip on what was listed is right or refused. */
#include <stdlib.h>

#include "cpu/clip_predicted.h"
#include "cpu/clip_sorted.h"
#include "cpu/predict.h"
#include "cpu/sample.h"
#include "unit.h"

/* Bounds somewhere near those that would be right, or far from it. */
static struct scan_plan random_plan(const struct srcfind_background *b, struct random *r) {
    const double reach = 0.2 + 4 * random_unit(r);
    const double centre = b->median + 0.1 * b->rms * random_normal(r);
    const double half = b->rms * (random_below(r, 2) ? 0.05 : 0.5) * random_unit(r);
    struct scan_plan plan = {
        .inlier_low = (float)(centre - reach * b->rms),
        .inlier_high = (float)(centre + (0.2 + 4 * random_unit(r)) * b->rms),
        .median_low = (float)(centre - half),
        .median_high = (float)(centre + half),
        .candidate = INFINITY,
        .list_values = true,
    };
    if (random_below(r, 2))
        plan.candidate = plan.inlier_high + (float)(3 * b->rms * random_unit(r));
    const float most = fmaxf(fabsf(plan.inlier_low), fabsf(plan.inlier_high));
    plan.exponent = most > 0 ? ilogbf(most) + 1 : 0;
    plan.scale = ldexpf(1, 31 - plan.exponent);
    plan.zero_band = ldexpf(1, plan.exponent - 8);
    return plan;
}

/* Makes a small pixel a bound of the median bracket, if there is one on its way. */
static void bound_at_a_pixel(struct scan_plan *plan, const struct picture *p, struct random *r) {
    for (int i = 0; i < 100; i++) {
        const float v = p->pixels[random_below(r, p->width * p->height)];
        if (fabsf(v) < plan->zero_band && v > plan->inlier_low && v <= plan->median_high) {
            plan->median_low = v;
            return;
        }
    }
}

static void assert_background(const struct srcfind_background *b,
                              const struct srcfind_background *expected) {
    assert_int_equal(b->n_kept, expected->n_kept);
    assert_int_equal(b->rounds, expected->rounds);
    assert_int_equal(b->empty, expected->empty);
    assert_true(b->median == expected->median);
    assert_true(fabs(b->rms - expected->rms) <= 1e-14 * expected->rms);
}

/* Whether the clip by this plan did not refuse. */
static bool check(const struct picture *p, const struct scan_plan *plan, double kappa,
                  const struct srcfind_background *expected, struct random *r) {
    struct memory_source *m = memory_source_make(p, 1000, random_below(r, 2), true);
    struct scan scan;
    struct predicted_set set;
    struct srcfind_background b = {0};
    struct error error;
    assert_int_equal(scan_image(&scan, &m->source, plan, NULL, unit_threads(2), &error),
                     SRCFIND_OK);
    assert_int_equal(predicted_from_scan(&set, &scan, unit_threads(2), &error), SRCFIND_OK);
    const bool done = clip_run(&set.set, kappa, &b);
    if (done) {
        assert_background(&b, expected);
        if (predicted_extremes(&set, &b.min, &b.max))
            assert_true(b.min == expected->min && b.max == expected->max);
    }
    predicted_clear(&set);
    scan_clear(&scan);
    memory_source_free(m);
    return done;
}

enum outcome { DONE, REFUSED, DONE_AGAIN }; /* the last: after a scan of missing bins */

/* The same with values that are only counted, where they may be. */
static enum outcome check_counted(const struct picture *p, const struct scan_plan *plan,
                                  double kappa, const struct srcfind_background *expected,
                                  struct random *r) {
    struct memory_source *m = memory_source_make(p, 1000, random_below(r, 2), true);
    static uint8_t states[KEY_BINS];
    enum outcome outcome = REFUSED;
    bool missing = true;
    for (int i = 0; i < KEY_BINS; i++)
        states[i] = random_below(r, 8) == 0 ? BIN_LISTED : BIN_COUNTED;
    states[key_bin_of(exact_key(plan->inlier_low))] = BIN_LISTED;
    states[key_bin_of(exact_key(plan->inlier_high))] = BIN_LISTED;
    for (int reads = 0; missing && reads < 5; reads++) {
        struct scan scan;
        struct predicted_set set;
        struct srcfind_background b = {0};
        struct error error;
        assert_int_equal(scan_image(&scan, &m->source, plan, states, unit_threads(2), &error),
                         SRCFIND_OK);
        assert_int_equal(predicted_from_scan(&set, &scan, unit_threads(2), &error), SRCFIND_OK);
        assert_int_equal(set.set.n, expected->n_pixels - expected->n_blank);
        const bool done = clip_run(&set.set, kappa, &b);
        const bool has_extremes = done && predicted_extremes(&set, &b.min, &b.max);
        missing = done && predicted_is_missing(&set);
        if (done && !missing) {
            assert_background(&b, expected);
            assert_true(!has_extremes || (b.min == expected->min && b.max == expected->max));
            outcome = reads > 0 ? DONE_AGAIN : DONE;
        }
        const int64_t n_listed = counted_list_missing(&set.counted[SCAN_BRACKET]) +
                                 counted_list_missing(&set.counted[SCAN_OUTLIERS]);
        assert_in_range(n_listed, 0, expected->n_pixels - expected->n_blank);
        predicted_clear(&set);
        scan_clear(&scan);
    }
    memory_source_free(m);
    return outcome;
}

/* Candidates may be below 0 then, and zeros among those that are left. */
static void make_negative(struct picture *p) {
    for (int i = 0; i < p->width * p->height; i++)
        p->pixels[i] -= 2;
}

/* One pixel in a hundred becomes 0. */
static void add_zeros(struct picture *p, struct random *r) {
    for (int i = 0; i < p->width * p->height; i++)
        if (random_below(r, 100) == 0)
            p->pixels[i] = 0;
}

static void right_or_refused(void **state) {
    static const int kinds[] = {0, 1, 5, 6, 8, 10, 11};
    static const double kappas[] = {3, 2, 1.5};
    struct random r = {1};
    int n_done = 0, n_refused = 0, n_again = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        const struct detection d = detection_with(kappas[i % 3]);
        struct picture p =
            picture_make(kinds[random_below(&r, 7)], 30 + random_below(&r, 40), 40, &r);
        if (i % 8 == 0)
            make_negative(&p);
        if (i % 4 == 0)
            add_zeros(&p, &r);
        struct oracle_result expected = oracle_detect(&p, &d);
        struct scan_plan plan = random_plan(&expected.background, &r);
        bound_at_a_pixel(&plan, &p, &r);
        if (expected.background.rms > 0 && plan.inlier_low < plan.median_low &&
            plan.median_high < plan.inlier_high) {
            const bool done = check(&p, &plan, d.kappa, &expected.background, &r);
            n_done += done;
            n_refused += !done;
            if (i % 10 < 2 &&
                key_bin_of(exact_key(plan.median_low)) < key_bin_of(exact_key(plan.inlier_high)))
                n_again +=
                    check_counted(&p, &plan, d.kappa, &expected.background, &r) == DONE_AGAIN;
        }
        oracle_free(&expected);
        picture_free(&p);
    }
    assert_true(n_done > 200 && n_refused > 200 && n_again > 20);
}

/* Zeros that are only counted, values within the median bracket and beyond the inliers, and none
 * between: the bracket has the least of all. */
static void no_inliers(void **state) {
    const struct detection d = detection_with(3);
    const struct scan_plan plan = {.inlier_low = -0.5f,
                                   .inlier_high = 0.5f,
                                   .median_low = -0.01f,
                                   .median_high = 0.01f,
                                   .zero_band = 0x1p-9f,
                                   .scale = 0x1p32f,
                                   .exponent = -1,
                                   .candidate = 3,
                                   .list_values = true};
    struct random r = {4};
    struct picture p = picture_make(0, 40, 40, &r);
    (void)state;
    for (int i = 0; i < p.width * p.height; i++)
        p.pixels[i] = i % 5 == 0 ? 1.0f : i % 100 == 1 ? -0.005f : 0.0f;
    struct oracle_result expected = oracle_detect(&p, &d);
    assert_true(expected.background.min == -0.005f);
    assert_true(check(&p, &plan, d.kappa, &expected.background, &r));
    oracle_free(&expected);
    picture_free(&p);
}

static void check_whole(const struct picture *p, double kappa,
                        const struct srcfind_background *expected, struct random *r) {
    const struct scan_plan plan = scan_plan_all((float)random_normal(r));
    struct memory_source *m = memory_source_make(p, 1000, random_below(r, 2), true);
    struct scan scan;
    struct sorted_set set;
    struct srcfind_background b = {0};
    struct error error;
    assert_int_equal(scan_image(&scan, &m->source, &plan, NULL, unit_threads(2), &error),
                     SRCFIND_OK);
    assert_int_equal(sorted_from_scan(&set, &scan, &error), SRCFIND_OK);
    assert_true(clip_run(&set.set, kappa, &b));
    sorted_extremes(&set, &b.min, &b.max);
    assert_background(&b, expected);
    assert_true(b.min == expected->min && b.max == expected->max);
    sorted_set_clear(&set);
    scan_clear(&scan);
    memory_source_free(m);
}

/* Where all is listed, it is listed once, also where there are candidates; and no clip refuses. */
static void whole_lists(void **state) {
    static const double kappas[] = {3, 2, 1.5};
    struct random r = {3};
    (void)state;
    for (int i = 0; i < 300; i++) {
        const struct detection d = detection_with(kappas[i % 3]);
        struct picture p = picture_make(i % 12, 30 + random_below(&r, 40), 40, &r);
        if (i % 4 == 0)
            add_zeros(&p, &r);
        struct oracle_result expected = oracle_detect(&p, &d);
        if (expected.background.n_kept > 0)
            check_whole(&p, d.kappa, &expected.background, &r);
        oracle_free(&expected);
        picture_free(&p);
    }
}

/* The clip of a sample ends where the exact one does, but for a part of its margins. */
static void samples_are_clipped(void **state) {
    static const int kinds[] = {0, 1, 3, 4, 5, 11, 16};
    struct random r = {2};
    (void)state;
    for (int i = 0; i < 7; i++) {
        const struct detection d = detection_with(3);
        struct picture p = picture_make(kinds[i], 250, 240, &r);
        struct oracle_result expected = oracle_detect(&p, &d);
        const struct srcfind_background *b = &expected.background;
        const double margin = 0.02 * b->rms;
        struct sample_clip clip;
        assert_true(sample_clip(&clip, p.pixels, (int64_t)p.width * p.height, d.kappa));
        assert_true(fabs(clip.median - b->median) < margin);
        assert_true(fabs(clip.rms - b->rms) < margin / d.kappa);
        assert_true(clip.path.low >= clip.median - 3.001 * clip.rms);
        assert_true(clip.path.high <= clip.median + 3.001 * clip.rms);
        assert_true(clip.path.median_low <= clip.median && clip.median <= clip.path.median_high);
        oracle_free(&expected);
        picture_free(&p);
    }
}

static void flat_samples_tell_nothing(void **state) {
    static const float same[] = {7, 7, 7};
    struct sample_clip clip;
    (void)state;
    assert_false(sample_clip(&clip, same, 0, 3));
    assert_false(sample_clip(&clip, same, 3, 3));
}

enum { SAME = 1 << 20 };

static const uint32_t *read_same(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                 struct error *error) {
    (void)first, (void)count, (void)buffer, (void)error;
    return state;
}

/* From anywhere in 2 SAME pixels. */
static const uint32_t *read_some(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                 struct error *error) {
    (void)count, (void)buffer, (void)error;
    return (const uint32_t *)state + (uint64_t)first * 2654435761u % SAME;
}

/* Noise of 32768 squared with a pixel in 100 far above it: its list is not too long, so that the
 * image is read once. Where the list is too long, most values are only counted; where it still is,
 * there is no plan. */
static void large_images_are_planned(void **state) {
    const struct detection d = detection_with(3);
    uint32_t *noise = malloc(2 * SAME * sizeof *noise);
    const struct pixel_source source = {.width = 1 << 15,
                                        .height = 1 << 15,
                                        .chunk_pixels = SAME,
                                        .sample_rows = 256,
                                        .state = noise,
                                        .read = read_some};
    struct random r = {7};
    struct prediction prediction;
    struct error error;
    (void)state;
    for (int i = 0; i < 2 * SAME; i++)
        noise[i] = exact_bits((float)random_normal(&r) + (random_below(&r, 100) ? 0 : 20));
    assert_int_equal(predict_scan(&source, &d, NULL, &prediction, &error), SRCFIND_OK);
    assert_true(prediction.is_useful && !prediction.bin_states);
    prediction_clear(&prediction);
    setenv("SRCFIND_MOST_LISTED", "12000000", 1);
    assert_int_equal(predict_scan(&source, &d, NULL, &prediction, &error), SRCFIND_OK);
    assert_true(prediction.is_useful && prediction.bin_states);
    prediction_clear(&prediction);
    setenv("SRCFIND_MOST_LISTED", "1000", 1);
    assert_int_equal(predict_scan(&source, &d, NULL, &prediction, &error), SRCFIND_OK);
    assert_false(prediction.is_useful);
    prediction_clear(&prediction);
    unsetenv("SRCFIND_MOST_LISTED");
    free(noise);
}

enum { PERIOD = 128, WIDTH = 1 << 12 };

/* Each row has one value, and the rows repeat. */
static const uint32_t *read_rows(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                 struct error *error) {
    (void)state, (void)error;
    for (int64_t i = 0; i < count; i++)
        buffer[i] = exact_bits((float)((first + i) / WIDTH % PERIOD));
    return buffer;
}

/* Most of the rows are seen, also where they repeat as often as a sample is taken; and pixels of a
 * row are far from each other, also where but few rows are read. */
static void samples_are_from_all_over(void **state) {
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        const struct pixel_source source = {.width = WIDTH,
                                            .height = packed ? 1 << 18 : 256 * PERIOD,
                                            .chunk_pixels = 1 << 16,
                                            .sample_rows = packed ? 64 : 256,
                                            .packed = packed,
                                            .parallel = true,
                                            .read = read_rows};
        struct sample sample = {0}, same = {0};
        struct error error;
        bool seen[PERIOD] = {false};
        int n_seen = 0;
        const int64_t wanted = predict_sample_size(source.width * source.height);
        assert_int_equal(predict_draw_sample(&source, wanted, NULL, &sample, &error), SRCFIND_OK);
        assert_int_equal(predict_draw_sample(&source, wanted, unit_threads(3), &same, &error),
                         SRCFIND_OK);
        assert_int_equal(same.n, sample.n);
        assert_memory_equal(same.values, sample.values, (size_t)sample.n * sizeof *same.values);
        free(same.values);
        for (int64_t i = 0; i < sample.n; i++) {
            n_seen += !seen[(int)sample.values[i]];
            seen[(int)sample.values[i]] = true;
        }
        assert_in_range(n_seen, packed ? 40 : 90, PERIOD);
        assert_in_range(sample.n, 1, packed ? 64 * WIDTH / 8 : wanted + 256);
        free(sample.values);
    }
}

static void sample_sizes(void **state) {
    (void)state;
    assert_int_equal(predict_sample_size(1 << 16), 1 << 13);
    assert_int_equal(predict_sample_size(1 << 22), 1 << 15);
    assert_int_equal(predict_sample_size(1 << 26), 1 << 18);
    assert_int_equal(predict_sample_size((int64_t)1 << 30), 1 << 20);
}

/* One thread's sums over more than 2^32 pixels, each near 2^31 in units of the sum, need more than
 * 64 bits. */
static void sums_of_many_pixels(void **state) {
    const struct scan_plan plan = {.inlier_low = -1,
                                   .inlier_high = 1,
                                   .median_low = -0.5f,
                                   .median_high = -0.25f,
                                   .zero_band = 0x1p-8f,
                                   .scale = 0x1p31f,
                                   .candidate = INFINITY,
                                   .list_values = true};
    const float value = 0x1.fffffep-1f;
    uint32_t *same = malloc(SAME * sizeof *same);
    struct pixel_source source = {.width = 1 << 16,
                                  .height = (1 << 16) + 64,
                                  .chunk_pixels = SAME,
                                  .state = same,
                                  .read = read_same};
    const int64_t n = source.width * source.height, q = (int64_t)((double)value * 0x1p31);
    const int bin = EXACT_UNIT - 31;
    struct scan scan;
    struct error error;
    (void)state;
    for (int i = 0; i < SAME; i++)
        same[i] = exact_bits(value);
    assert_int_equal(scan_image(&scan, &source, &plan, NULL, NULL, &error), SRCFIND_OK);
    assert_true(scan.workers[0].inliers.n == n);
    assert_true(scan.workers[0].inliers.sums.sum[bin] == (int128)n * q);
    assert_true(scan.workers[0].inliers.sums.square[bin] == (uint128)n * (uint128)q * (uint128)q);
    scan_clear(&scan);
    free(same);
}

/* A plan is refused whose sums have no unit in float32. */
static void scales_have_room(void **state) {
    (void)state;
    for (int exponent = -140; exponent < 127; exponent++) {
        struct scan_plan plan = {.inlier_low = -ldexpf(1, exponent),
                                 .inlier_high = ldexpf(1, exponent)};
        assert_int_equal(scan_plan_scale(&plan), exponent >= -89 && exponent < 120);
    }
}

/* Pixels so small that they vanish in any unit of the sums are still added. */
static void tiny_pixels_are_added(void **state) {
    struct scan_plan plan = {.inlier_low = -0x1p99f,
                             .inlier_high = 0x1p99f,
                             .median_low = 0x1p98f,
                             .median_high = 0x1.1p98f,
                             .candidate = INFINITY,
                             .list_values = true};
    const float value = 0x1.8p-100f;
    uint32_t *same = malloc(SAME * sizeof *same);
    struct pixel_source source = {
        .width = SAME, .height = 2, .chunk_pixels = SAME, .state = same, .read = read_same};
    const int bin = exact_exponent(exact_bits(value));
    struct scan scan;
    struct error error;
    (void)state;
    assert_true(scan_plan_scale(&plan));
    for (int i = 0; i < SAME; i++)
        same[i] = exact_bits(value);
    assert_int_equal(scan_image(&scan, &source, &plan, NULL, NULL, &error), SRCFIND_OK);
    assert_true(scan.workers[0].inliers.n == 2 * SAME);
    assert_true(scan.workers[0].inliers.sums.sum[bin] ==
                (int128)2 * SAME * exact_mantissa(exact_bits(value)));
    scan_clear(&scan);
    free(same);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scales_have_room),
                                       cmocka_unit_test(tiny_pixels_are_added),
                                       cmocka_unit_test(right_or_refused),
                                       cmocka_unit_test(whole_lists),
                                       cmocka_unit_test(samples_are_clipped),
                                       cmocka_unit_test(flat_samples_tell_nothing),
                                       cmocka_unit_test(sums_of_many_pixels),
                                       cmocka_unit_test(large_images_are_planned),
                                       cmocka_unit_test(samples_are_from_all_over),
                                       cmocka_unit_test(no_inliers),
                                       cmocka_unit_test(sample_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
