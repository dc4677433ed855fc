/* Lists in no order against the same ones sorted. */
#include <float.h>
#include <stdlib.h>

#include "cpu/values.h"
#include "cpu/variants.h"
#include "unit.h"

enum { MOST = 200000, LISTS = 3, ASKED = 40 };

/* Noise around some value, or spread over all exponents, or of few different values, or all the
 * same, or the least ones that there are, or evenly spread with many zeros. */
static float random_value(int kind, struct random *r) {
    const float sign = random_below(r, 2) ? 1 : -1;
    switch (kind) {
    case 0:
        return (float)random_normal(r);
    case 1:
        return (float)(1e-30 * (3 + random_normal(r)));
    case 2:
        return sign * ldexpf(1 + (float)random_unit(r), random_below(r, 270) - 148);
    case 3:
        return (float)(random_below(r, 7) - 3);
    case 4:
        return -2.5f;
    case 5:
        return random_below(r, 100) ? -0x1p-149f : random_below(r, 2) ? 0x1p-149f : 0.0f;
    default:
        return random_below(r, 3) ? (float)random_unit(r) - 0.5f : sign * 0.0f;
    }
}

static int compare(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Values in their order, and the same ones in lists. */
struct lists {
    int64_t n;
    float shuffled[MOST], sorted[MOST];
    struct values_list lists[LISTS];
};

static void make_lists(struct lists *l, int kind, int64_t n, struct random *r) {
    const int64_t first = n > 0 ? random_below(r, (int)n) : 0;
    l->n = n;
    for (int64_t i = 0; i < n; i++)
        l->shuffled[i] = l->sorted[i] = random_value(kind, r);
    qsort(l->sorted, (size_t)n, sizeof *l->sorted, compare);
    l->lists[0] = (struct values_list){l->shuffled, first};
    l->lists[1] = (struct values_list){NULL, 0};
    l->lists[2] = (struct values_list){l->shuffled + first, n - first};
}

static void assert_sums(const struct values_sums *sums, const struct lists *l, float low,
                        float high, float below) {
    struct values_sums expected = {0};
    for (int64_t i = 0; i < l->n; i++) {
        if (l->sorted[i] < low || l->sorted[i] > high)
            continue;
        expected.n++;
        expected.n_below += l->sorted[i] < below;
        exact_add(&expected.sums, l->sorted[i], 1);
    }
    assert_int_equal(sums->n, expected.n);
    assert_int_equal(sums->n_below, expected.n_below);
    if (expected.n > 0) {
        assert_true(exact_mean(&sums->sums, expected.n) == exact_mean(&expected.sums, expected.n));
        assert_true(exact_rms(&sums->sums, expected.n) == exact_rms(&expected.sums, expected.n));
    }
}

static float any_of(const struct lists *l, struct random *r) {
    return l->sorted[random_below(r, (int)l->n)];
}

/* How many values are <= high. */
static int64_t place_behind(const struct lists *l, float high) {
    int64_t i = 0;
    while (i < l->n && l->sorted[i] <= high)
        i++;
    return i;
}

/* Where no value is within bounds, nothing is extended. */
static void assert_extremes(const struct values *v, const struct lists *l, float low, float high) {
    const int64_t first = place_behind(l, nextafterf(low, -INFINITY));
    const int64_t last = place_behind(l, high);
    float least = INFINITY, greatest = -INFINITY;
    values_extend(v, low, high, &least, &greatest);
    assert_false((least == 0 && signbit(least)) || (greatest == 0 && signbit(greatest)));
    assert_true(least == (first < last ? l->sorted[first] : INFINITY));
    assert_true(greatest == (first < last ? l->sorted[last - 1] : -INFINITY));
}

/* Sums and extremes of what trim after trim leaves, between values of the list or beyond them. */
static void check_trims(struct values *v, const struct lists *l, struct random *r) {
    float low = -FLT_MAX, high = FLT_MAX;
    for (int i = 0; i < ASKED; i++) {
        struct values_sums sums = {0};
        const float bound = any_of(l, r), below = i % 3 ? any_of(l, r) : 0;
        const bool from_below = random_below(r, 2);
        if (i > 0 && bound >= low && bound <= high && random_below(r, 4) == 0) {
            low = from_below ? bound : low;
            high = from_below ? high : i % 5 ? bound : nextafterf(bound, -INFINITY);
        }
        if (low > high)
            return;
        values_trim(v, low, high, below, &sums);
        assert_sums(&sums, l, low, high, below);
        assert_extremes(v, l, low, high);
    }
}

/* Near each other, as a clip's medians are, and far apart. */
static void check_places(struct values *v, const struct lists *l, struct random *r) {
    int64_t i = l->n / 2;
    for (int k = 0; k < ASKED; k++) {
        const float value = values_at(v, i);
        assert_true(value == l->sorted[i] && !(value == 0 && signbit(value)));
        i = k % 4 ? i + random_below(r, 100) : random_below(r, (int)l->n);
        i = i < l->n ? i : l->n - 1;
    }
    assert_true(values_at(v, 0) == l->sorted[0]);
    assert_true(values_at(v, l->n - 1) == l->sorted[l->n - 1]);
}

static void as_if_sorted(void **state) {
    static struct lists l;
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 140; i++) {
        const int kind = i % 7, size = i / 7 % 4;
        const int64_t n = size == 0 ? 1 + random_below(&r, 5)
                                    : 1 + random_below(&r, random_below(&r, 8) ? MOST / 4 : MOST);
        const struct cpu_variant *variant = &cpu_variants[i / 28 % n_cpu_variants];
        struct values v;
        struct values_sums all = {0};
        if (!variant->runs())
            continue;
        make_lists(&l, kind, n, &r);
        const bool bounded = i % 2; /* whether more is known than that there are values */
        const float low = bounded ? l.sorted[0] : -FLT_MAX;
        const float high = bounded ? nextafterf(l.sorted[n - 1], INFINITY) : FLT_MAX;
        assert_true(
            values_make(&v, variant, unit_threads(3), l.lists, LISTS, low, high, 0.25f, &all));
        assert_sums(&all, &l, -FLT_MAX, FLT_MAX, 0.25f);
        check_trims(&v, &l, &r);
        check_places(&v, &l, &r);
        values_clear(&v);
    }
}

static void empty_lists(void **state) {
    const struct values_list none = {NULL, 0};
    struct values v;
    struct values_sums all = {0};
    float least = INFINITY, greatest = -INFINITY;
    (void)state;
    assert_true(values_make(&v, cpu_variant_choose(), unit_threads(3), &none, 1, -FLT_MAX, FLT_MAX,
                            0, &all));
    values_trim(&v, -1, 1, 0, &all);
    values_extend(&v, -1, 1, &least, &greatest);
    assert_int_equal(all.n, 0);
    assert_true(least == INFINITY && greatest == -INFINITY);
    values_clear(&v);
}

static void extremes_are_within(void **state) {
    static const float some[] = {3, 4, -5};
    const struct values_list list = {some, 3};
    struct values v;
    struct values_sums all = {0};
    float least = INFINITY, greatest = -INFINITY;
    (void)state;
    assert_true(values_make(&v, cpu_variant_choose(), unit_threads(3), &list, 1, -5, 4, 0, &all));
    values_extend(&v, -4, 2, &least, &greatest);
    assert_true(least == INFINITY && greatest == -INFINITY);
    values_extend(&v, -4, 3.5f, &least, &greatest);
    assert_true(least == 3 && greatest == 3);
    values_clear(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_if_sorted),
        cmocka_unit_test(empty_lists),
        cmocka_unit_test(extremes_are_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
