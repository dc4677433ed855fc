/* The bins by which a sample is counted keep the order of the values. */
#include <float.h>
#include <math.h>

#include "backend/value_bins.h"
#include "unit.h"

static float random_float(struct random *r) {
    const float v = exact_float((uint32_t)random_bits(r));
    return isfinite(v) ? v : 0;
}

/* Of ordinary images, with a background or none, and of odd ones. */
static struct bin_scale random_scale(struct random *r) {
    const float unit = ldexpf(1 + (float)random_unit(r), random_below(r, 120) - 60);
    const float offsets[] = {0, unit * (float)random_unit(r), 1000 * unit, random_float(r)};
    return (struct bin_scale){offsets[random_below(r, 4)], 1 / unit};
}

/* A value that is likely to be within the bins, or near their ends. */
static float random_value(struct random *r, const struct bin_scale *scale) {
    const float x = ldexpf((float)random_normal(r), random_below(r, 40) - 20);
    return random_below(r, 10) ? scale->centre + x / scale->per_unit : random_float(r);
}

static void bins_keep_the_order(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 300; i++) {
        const struct bin_scale scale = random_scale(&r);
        for (int k = 0; k < 3000; k++) {
            const float v = random_value(&r, &scale), other = random_value(&r, &scale);
            assert_true(bin_of(&scale, fminf(v, other)) <= bin_of(&scale, fmaxf(v, other)));
            assert_true(bin_of(&scale, v) <= bin_of(&scale, nextafterf(v, INFINITY)));
        }
        assert_int_equal(bin_of(&scale, -FLT_MAX), 0);
        assert_int_equal(bin_of(&scale, FLT_MAX), BINS - 1);
    }
}

/* What lies between two bounds of a bin, as bin_x has them, is in that bin, up to rounding. */
static void bins_are_where_they_say(void **state) {
    struct random r = {2};
    (void)state;
    for (int i = 0; i < 200000; i++) {
        const int bin = random_below(&r, BINS);
        const float share = 0.01f + 0.98f * (float)random_unit(&r);
        const struct bin_scale scale = {0, ldexpf(1, random_below(&r, 60) - 30)};
        const float v = bin_x(bin, share) / scale.per_unit;
        assert_int_equal(bin_of(&scale, v), bin);
        assert_true(bin_x(bin, 0) < bin_x(bin, share) && bin_x(bin, share) < bin_x(bin, 1));
    }
    for (int bin = 1; bin < BINS; bin++)
        assert_true(bin_x(bin - 1, 1) == bin_x(bin, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_keep_the_order),
        cmocka_unit_test(bins_are_where_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
