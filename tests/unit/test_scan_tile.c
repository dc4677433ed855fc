/* All variants of the scan's inner loop against plain arithmetic. */
#include <stdlib.h>

#include "cpu/variants.h"
#include "unit.h"

enum { BEHIND = 64 }; /* values behind a tile's that must stay as they are */

static struct scan_plan random_plan(struct random *r) {
    const int exponent = random_below(r, 40) - 20;
    const float high = ldexpf(1 - (float)random_unit(r) / 2, exponent);
    struct scan_plan plan = {.inlier_low = -high * (float)random_unit(r),
                             .inlier_high = high,
                             .exponent = exponent,
                             .scale = ldexpf(1, 31 - exponent),
                             .zero_band = ldexpf(1, exponent - 8),
                             .candidate = high,
                             .list_values = true};
    plan.median_low = plan.inlier_low + (high - plan.inlier_low) * (float)random_unit(r) / 2;
    plan.median_high = plan.median_low + 0.01f * high;
    if (random_below(r, 2)) { /* inliers without the zero band */
        plan.median_low = fmaxf(fminf(plan.median_low, -plan.zero_band), plan.inlier_low);
        plan.median_high = fmaxf(plan.median_high, plan.zero_band);
    }
    return plan;
}

/* Ordinary values, the plan's own bounds, and what is no number. */
static float random_value(const struct scan_plan *p, struct random *r) {
    const float bounds[] = {
        p->inlier_low, p->inlier_high, p->median_low, p->median_high,
        NAN,           INFINITY,       -INFINITY,     0,
        -0.0f,         p->zero_band,   -p->zero_band, nextafterf(p->inlier_high, 0),
        0x1p-149f,     3.4028235e38f};
    const int which = random_below(r, 60);
    return which < 14 ? bounds[which] : p->inlier_high * 1.2f * (float)(2 * random_unit(r) - 1);
}

static void assert_index(const struct tile_indices *indices, int *at, int i) {
    assert_true(*at < indices->n);
    assert_int_equal(indices->index[*at], i);
    ++*at;
}

static void assert_value(const struct tile_values *values, int *at, float v) {
    assert_true(*at < values->n);
    ASSERT_SAME(values->value[*at], v);
    ++*at;
}

static void assert_sum(const struct scan_plan *plan, float v, struct tile_sums *expected,
                       uint128 *squares) {
    const int64_t q = (int64_t)((double)v * (double)plan->scale);
    assert_true((double)q == (double)v * (double)plan->scale);
    expected->n++;
    expected->n_below += v < plan->median_low;
    expected->sum += q;
    *squares += (uint128)((int128)q * q);
}

static void check(scan_tile_function *tile, const struct scan_plan *plan, const float *values,
                  int n, bool swapped) {
    static uint32_t bits[TILE_PIXELS];
    static float bracket[TILE_PIXELS + BEHIND];
    static struct tile_unsummed unsummed = {.bracket.value = bracket};
    const struct tile_sums before = {9, 5, -7, 11, 13}; /* of tiles before */
    struct tile_sums sums = before, expected = before;
    int n_bracket = 0, n_others = 0;
    uint128 squares = before.square_low + ((uint128)before.square_high << 32);
    for (int i = 0; i < n; i++) {
        const uint32_t b = exact_bits(values[i]);
        bits[i] = swapped ? __builtin_bswap32(b) : b;
    }
    for (int i = n; i < n + BEHIND; i++)
        bracket[i] = 12345;
    tile(plan, bits, swapped, n, &sums, &unsummed);
    for (int i = n; i < n + BEHIND; i++)
        assert_true(bracket[i] == 12345);
    for (int i = 0; i < n; i++) {
        const float v = values[i];
        if (!(v > plan->inlier_low && v < plan->inlier_high)) {
            assert_index(&unsummed.others, &n_others, i);
        } else if (v >= plan->median_low && v <= plan->median_high) {
            assert_value(&unsummed.bracket, &n_bracket, v);
        } else {
            if (fabsf(v) < plan->zero_band)
                assert_index(&unsummed.others, &n_others, i);
            else
                assert_sum(plan, v, &expected, &squares);
        }
    }
    assert_int_equal(unsummed.bracket.n, n_bracket);
    assert_int_equal(unsummed.others.n, n_others);
    assert_int_equal(sums.n, expected.n);
    assert_int_equal(sums.n_below, expected.n_below);
    assert_int_equal(sums.sum, expected.sum);
    assert_true(sums.square_low + ((uint128)sums.square_high << 32) == squares);
}

/* A list's sums are those of its tiles. */
static void check_sum(const struct cpu_variant *variant, const struct scan_plan *plan,
                      const float *values, int n) {
    static float bracket[TILE_PIXELS];
    static struct tile_unsummed unsummed = {.bracket.value = bracket};
    struct tile_sums sums = {9, 5, -7, 11, 13}, expected = sums;
    variant->sum(plan, values, n, &sums);
    for (int i = 0; i < n; i += TILE_PIXELS)
        scan_tile_plain(plan, values + i, false, n - i < TILE_PIXELS ? n - i : TILE_PIXELS,
                        &expected, &unsummed);
    assert_int_equal(sums.n, expected.n);
    assert_int_equal(sums.n_below, expected.n_below);
    assert_int_equal(sums.sum, expected.sum);
    assert_true(sums.square_low + ((uint128)sums.square_high << 32) ==
                expected.square_low + ((uint128)expected.square_high << 32));
}

/* Checks all variants that run here. */
static void check_all(const struct scan_plan *plan, const float *values, int n, bool swapped) {
    for (int i = 0; i < n_cpu_variants; i++) {
        if (!cpu_variants[i].runs())
            continue;
        check(cpu_variants[i].tile, plan, values, n, swapped);
        check_sum(&cpu_variants[i], plan, values, n);
    }
}

static void variants_agree(void **state) {
    static float values[TILE_PIXELS];
    struct random r = {1};
    (void)state;
    for (int i = 0; i < n_cpu_variants; i++)
        print_message("%s: %s\n", cpu_variants[i].name,
                      cpu_variants[i].runs() ? "tested" : "skipped, not of this processor");
    for (int i = 0; i < 3000; i++) {
        const struct scan_plan plan = random_plan(&r);
        const int n = i % 3 ? 1 + random_below(&r, TILE_PIXELS) : TILE_PIXELS;
        for (int j = 0; j < n; j++)
            values[j] = random_value(&plan, &r);
        check_all(&plan, values, n, i % 2);
    }
}

/* The largest sums that a tile can have. */
static void extremes(void **state) {
    static float values[TILE_PIXELS];
    struct scan_plan plan = {.inlier_low = -1,
                             .inlier_high = 1,
                             .median_low = -0.01f,
                             .median_high = 0.01f,
                             .exponent = 0,
                             .scale = 0x1p31f,
                             .zero_band = 0x1p-8f,
                             .list_values = true};
    (void)state;
    for (int sign = -1; sign <= 1; sign++) {
        for (int i = 0; i < TILE_PIXELS; i++)
            values[i] = nextafterf(1, 0) * (float)(sign ? sign : i % 2 ? 1 : -1);
        check_all(&plan, values, TILE_PIXELS, true);
    }
}

/* A tile of nothing but one kind of pixel: all places and values are kept, and no more. */
static void of_one_kind(void **state) {
    static float values[TILE_PIXELS];
    struct random r = {2};
    const struct scan_plan plan = random_plan(&r);
    const float kinds[] = {
        NAN, INFINITY, 0, plan.median_low, plan.inlier_high / 2, plan.inlier_high};
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (int i = 0; i < TILE_PIXELS; i++)
            values[i] = kinds[kind];
        check_all(&plan, values, TILE_PIXELS, false);
    }
}

/* Sums of a list longer than what is added up in lanes of 32 bits. */
static void long_lists(void **state) {
    enum { LONG = 1 << 19 };
    const struct scan_plan plan = {.inlier_low = -1,
                                   .inlier_high = 1,
                                   .median_low = INFINITY,
                                   .median_high = -INFINITY,
                                   .scale = 0x1p31f,
                                   .zero_band = 0x1p-8f};
    float *values = malloc((LONG + 63) * sizeof *values);
    (void)state;
    assert_non_null(values);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < LONG + 63; i++)
            values[i] = nextafterf(1, 0) * (float)sign;
        for (int i = 0; i < n_cpu_variants; i++)
            if (cpu_variants[i].runs())
                check_sum(&cpu_variants[i], &plan, values, LONG + 63);
    }
    free(values);
}

/* A release does not look at the environment. */
static void only_test_hooks_choose_a_variant(void **state) {
    const struct cpu_variant *fastest = cpu_variant_choose();
    (void)state;
    for (int i = 0; i < n_cpu_variants; i++) {
        setenv("SRCFIND_SIMD", cpu_variants[i].name, 1);
        const struct cpu_variant *chosen = cpu_variant_choose();
        unsetenv("SRCFIND_SIMD");
#ifdef TEST_HOOKS
        assert_ptr_equal(chosen, cpu_variants[i].runs() ? &cpu_variants[i] : chosen);
#else
        assert_ptr_equal(chosen, fastest);
#endif
    }
    assert_ptr_equal(cpu_variant_choose(), fastest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_agree),
        cmocka_unit_test(extremes),
        cmocka_unit_test(of_one_kind),
        cmocka_unit_test(long_lists),
        cmocka_unit_test(only_test_hooks_choose_a_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
