/* The integer arithmetic: sums, and the one rounding at their end. */
#include <float.h>

#include "unit.h"

static struct exact_sums sums_of(const float *x, int n) {
    struct exact_sums sums = {0};
    for (int i = 0; i < n; i++)
        exact_add(&sums, x[i], 1);
    return sums;
}

static void assert_same(double value, double expected) {
    assert_memory_equal(&value, &expected, sizeof value);
}

static void known_numbers(void **state) {
    static const float halves[] = {1, 2, 3, 4};
    static const float apart[] = {0x1p127f, 1, -0x1p127f};
    static const float subnormal[] = {0x1p-149f, 0x1p-149f, 0x1p-148f};
    static const float ends[] = {FLT_MAX, -FLT_MAX};
    static const float same[] = {0.1f, 0.1f, 0.1f};
    (void)state;
    struct exact_sums s = sums_of(halves, 4);
    assert_same(exact_mean(&s, 4), 2.5);
    assert_same(exact_rms(&s, 4), sqrt(1.25));
    s = sums_of(apart, 3);
    assert_same(exact_mean(&s, 3), 1.0 / 3);
    s = sums_of(subnormal, 3);
    assert_same(exact_mean(&s, 3), 0x1p-149 * (4.0 / 3));
    s = sums_of(ends, 2);
    assert_same(exact_mean(&s, 2), 0);
    assert_same(exact_rms(&s, 2), FLT_MAX);
    s = sums_of(same, 3);
    assert_same(exact_mean(&s, 3), 0.1f);
    assert_same(exact_rms(&s, 3), 0);
}

/* Where long double is exact (few bits), its one rounding to double is the right answer. */
static void rounded_once(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 20000; i++) {
        float x[5];
        long double sum = 0;
        const int n = 1 + random_below(&r, 5);
        for (int j = 0; j < n; j++) {
            x[j] = (float)(random_below(&r, 1 << 20) - (1 << 19)) / 1024;
            sum += x[j];
        }
        const struct exact_sums s = sums_of(x, n);
        assert_same(exact_mean(&s, n), (double)sum / n);
    }
}

/* Sums that lie between two doubles, some halfway; below a power of two these are closer. */
static void ties(void **state) {
    static const struct {
        float x[3];
        double expected;
    } cases[] = {
        {{0x1p53f, 1, 0}, 0x1p53},
        {{0x1p53f, 3, 0}, 0x1p53 + 4},
        {{0x1p53f, 1, 0x1p-60f}, 0x1p53 + 2},
        {{0x1p53f, 3, -0x1p-60f}, 0x1p53 + 2},
        {{0x1p53f, -0.5f, 0}, 0x1p53},
        {{0x1p53f, -0.625f, 0}, 0x1p53 - 1},
        {{0x1p53f, -0.5f, -0x1p-60f}, 0x1p53 - 1},
        {{0x1p53f, -0.375f, 0}, 0x1p53},
        {{-0x1p53f, -1, 0}, -0x1p53},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct exact_sums s = sums_of(cases[i].x, 3);
        assert_same(exact_mean(&s, 1), cases[i].expected);
    }
}

/* n var = sum x^2 - (sum x)^2 / n: for two pixels a, b the rms is |a - b| / 2, exactly. */
static void rms_of_two(void **state) {
    struct random r = {2};
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const float x[] = {(float)random_normal(&r), (float)(1e3 * random_normal(&r))};
        const struct exact_sums s = sums_of(x, 2);
        assert_same(exact_rms(&s, 2), fabs((double)x[0] - (double)x[1]) / 2);
    }
}

static struct exact_aligned align(const struct exact_sums *s) {
    struct exact_aligned a = {0, 0, 0};
    for (int e = 0; e < EXACT_EXPONENTS; e++)
        a.top = s->square[e] ? e : a.top;
    for (int e = a.top; e > 0; e--)
        exact_align(&a, e, s->sum[e], s->square[e]);
    return a;
}

/* The quick way gives the same bits as the slow one, or says that it cannot tell: at times where
 * much cancels, hardly ever elsewhere. */
static void quick_rms(void **state) {
    static const double means[] = {0, 0, 1, 1e3, 1e6};
    static const double scales[] = {1, 1e-6, 1e20, 1e-30};
    struct random r = {5};
    int n_certain = 0;
    (void)state;
    for (int i = 0; i < 5000; i++) {
        struct exact_sums s = {0};
        double rms;
        const int n = 2 + random_below(&r, 200), count = 1 + random_below(&r, 1 << 23);
        const double mean = means[random_below(&r, 5)], scale = scales[random_below(&r, 4)];
        for (int j = 0; j < n; j++)
            exact_add(&s, (float)(scale * (mean + random_normal(&r) / random_unit(&r))), count);
        const struct exact_aligned a = align(&s);
        const bool certain = exact_rms_quickly(&a, (int64_t)n * count, &rms);
        const double slow = exact_rms_slowly(&s, (int64_t)n * count);
        if (certain)
            assert_same(rms, slow);
        assert_same(exact_rms(&s, (int64_t)n * count), slow);
        n_certain += certain;
    }
    assert_true(n_certain > 4900);
}

/* Two pixels a, b have the rms |a - b| / 2. Halfway between two doubles, and a little off: what
 * the quick way must not decide. */
static void doubtful_rms(void **state) {
    static const float off[] = {0, 0x1p-40f, -0x1p-40f, 0x1p-60f, -0x1p-60f, 0x1p-100f, -0x1p-100f};
    struct random r = {6};
    int n_certain = 0, n_doubtful = 0;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct exact_sums s = {0};
        double rms;
        exact_add(&s, 0x1p23f + (float)random_below(&r, 1 << 22), 1);
        exact_add(&s, 0x1p-30f * (float)(1 + 2 * random_below(&r, 1 << 8)), 1);
        if (random_below(&r, 2))
            exact_add(&s, off[random_below(&r, 7)], 1);
        const struct exact_aligned a = align(&s);
        const bool certain = exact_rms_quickly(&a, 2, &rms);
        if (certain)
            assert_same(rms, exact_rms_slowly(&s, 2));
        n_certain += certain;
        n_doubtful += !certain;
    }
    assert_true(n_certain > 100 && n_doubtful > 100);
}

static void taken_away(void **state) {
    struct random r = {3};
    struct exact_sums s = {0}, zero = {0};
    (void)state;
    for (int pass = 1; pass >= -1; pass -= 2) {
        r.state = 3;
        for (int i = 0; i < 1000; i++)
            exact_add(&s, (float)random_normal(&r), pass);
    }
    assert_memory_equal(&s, &zero, sizeof s);
}

static void merged(void **state) {
    static const float x[] = {1.5f, -2, 1e30f, 1e-30f};
    const struct exact_sums all = sums_of(x, 4), last = sums_of(x + 2, 2);
    struct exact_sums s = sums_of(x, 2);
    (void)state;
    exact_merge(&s, &last);
    assert_memory_equal(&s, &all, sizeof s);
}

static void keys_keep_order(void **state) {
    static const float rising[] = {-INFINITY, -1e30f, -1, -0x1p-149f, 0, 0x1p-149f, 1, INFINITY};
    (void)state;
    for (int i = 0; i < 8; i++) {
        assert_true(exact_unkey(exact_key(rising[i])) == rising[i]);
        for (int j = 0; j < i; j++)
            assert_true(exact_key(rising[j]) < exact_key(rising[i]));
    }
    assert_int_equal(exact_key(-0.0f), exact_key(0));
}

static void bounds_as_floats(void **state) {
    (void)state;
    assert_true(exact_above(1) == nextafterf(1, 2));
    assert_true(exact_above(1 + 0x1p-50) == nextafterf(1, 2));
    assert_true(exact_above(1 - 0x1p-50) == 1);
    assert_true(exact_below(1) == nextafterf(1, 0));
    assert_true(exact_below(1 + 0x1p-50) == 1);
    assert_true(exact_above(1e300) == INFINITY);
    assert_true(exact_below(1e300) == FLT_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_numbers),
        cmocka_unit_test(rounded_once),
        cmocka_unit_test(ties),
        cmocka_unit_test(rms_of_two),
        cmocka_unit_test(quick_rms),
        cmocka_unit_test(doubtful_rms),
        cmocka_unit_test(taken_away),
        cmocka_unit_test(merged),
        cmocka_unit_test(keys_keep_order),
        cmocka_unit_test(bounds_as_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
