/* Moments of islands of any size: sums stay within their 128 bits, and are exact. */
#include <stdlib.h>

#include "backend/moments.h"
#include "unit.h"

enum { LONGEST = INT32_MAX };

static struct island island_of(int64_t side, int64_t n_pixels, float peak) {
    return (struct island){.n_pixels = n_pixels, .x_max = (int32_t)(side - 1), .peak = peak};
}

/* The largest q there can be, at the farthest place, as often as there are pixels. */
static void sums_have_room(void **state) {
    static const float peaks[] = {1e-30f, 1, 1.9999999f, 3e38f};
    struct random r = {1};
    (void)state;
    for (int bits = 0; bits <= 31; bits++) {
        for (int i = 0; i < 200; i++) {
            const int64_t side =
                bits == 31 ? LONGEST : ((int64_t)1 << bits) + (i % 3 - 1) * (bits > 1);
            const int64_t most = side * side;
            const int64_t n = i % 2 ? most : 1 + (int64_t)(random_unit(&r) * (double)(most - 1));
            const float peak = peaks[random_below(&r, 4)],
                        threshold = peak * (float)random_unit(&r);
            const struct island island = island_of(side, n, peak);
            const int unit = moments_unit(&island, threshold);
            const long double q = (long double)moments_quantise(peak, ldexp(1, -unit));
            const long double far = (long double)(side - 1);
            assert_true(q >= 1);
            assert_true(q * far * far * (long double)n < 0x1p127L);
        }
    }
}

/* Where the unit is the threshold's last bit, all pixels are whole numbers of it. */
static void pixels_are_multiples(void **state) {
    struct random r = {3};
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const float threshold =
            ldexpf(1 + (float)random_unit(&r), (int)random_below(&r, 200) - 100);
        const float value = threshold * (float)exp2(16 * random_unit(&r)); /* rounded */
        const struct island island = island_of(1 + random_below(&r, 1000), 1000, value);
        const int unit = moments_unit(&island, threshold);
        const int64_t q = moments_quantise(value, ldexp(1, -unit));
        assert_true(ldexp((double)q, unit) == value);
        assert_true(q < (int64_t)1 << 41);
    }
}

/* The same as sums_have_room, in 63 bits; about as often as can be. */
static void small_sums_are_small(void **state) {
    struct random r = {4};
    int n_small = 0, n_nearly = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const int64_t side = 1 + random_below(&r, 1 << random_below(&r, 14));
        const int64_t n = 1 + (int64_t)(random_unit(&r) * (double)(side * side - 1));
        const float threshold = i % 5 ? 1e-4f : -1,
                    peak = 1e-4f * (float)exp2(40 * random_unit(&r));
        struct island island = island_of(side, n, peak);
        island.unit = moments_unit(&island, threshold);
        const double q = (double)moments_quantise(peak, ldexp(1, -island.unit));
        const double most = q * (double)(side * side) * (double)n;
        if (moments_are_small(&island, threshold)) {
            assert_true(threshold > 0 && most <= 0x1p63);
            n_small++;
        } else if (threshold > 0) {
            assert_true(most > 0x1p58); /* each of four powers of two is rounded up */
            n_nearly += most < 0x1p63;
        }
    }
    assert_true(n_small > 4000 && n_nearly > 0 && n_nearly < n_small);
}

/* Also where the sum, and what it is a third of, need more than 64 bits. */
static void squares_add_up(void **state) {
    int128 sum = 0;
    (void)state;
    for (int64_t n = 0; n < 1 << 23; n++) {
        assert_true(moments_squares(n) == sum);
        sum += (int128)n * n;
    }
}

/* By the definition, a pixel at a time. */
static void add_pixel(int128 sums[MOMENTS], int64_t q, int64_t x, int64_t y) {
    sums[SUM_Q] += q;
    sums[SUM_QX] += (int128)q * x;
    sums[SUM_QY] += (int128)q * y;
    sums[SUM_QXX] += (int128)q * (x * x);
    sums[SUM_QYY] += (int128)q * (y * y);
    sums[SUM_QXY] += (int128)q * (x * y);
    sums[SUM_X] += x;
    sums[SUM_Y] += y;
    sums[SUM_XX] += x * x;
    sums[SUM_YY] += y * y;
    sums[SUM_XY] += x * y;
}

/* Rows of random pixels, negative ones, too, anywhere in a box of any size; also in its first row,
 * of which some sums are 0. */
static void rows_are_pixels(void **state) {
    enum { LONGEST_ROW = 3000 };
    struct random r = {2};
    float *values = malloc(LONGEST_ROW * sizeof *values);
    (void)state;
    assert_non_null(values);
    for (int i = 0; i < 600; i++) {
        const int64_t n = 1 + random_below(&r, i % 3 == 0 ? LONGEST_ROW : 10),
                      side = LONGEST >> i % 20;
        const int64_t x = (int64_t)(random_unit(&r) * (double)(side > n ? side - n : 0));
        const int64_t y = i % 4 ? (int64_t)(random_unit(&r) * (double)side) : 0;
        struct island island = island_of(side > n ? side : n, 4 * n, 100);
        int128 expected[MOMENTS] = {0};
        const int unit = moments_unit(&island, 1);
        for (int64_t k = 0; k < n; k++)
            values[k] = (float)(200 * random_unit(&r) - 100);
        for (int row = 0; row < 2; row++) {
            moments_add_row(&island, values, n, x, y + row, ldexp(1, -unit));
            for (int64_t k = 0; k < n; k++)
                add_pixel(expected, moments_quantise(values[k], ldexp(1, -unit)), x + k, y + row);
        }
        for (int m = 0; m < MOMENTS; m++)
            assert_true(island_sum(&island, (enum moment)m) == expected[m]);
    }
    free(values);
}

/* Pixels at the far corner of the largest box; and a row as long as it. */
static void far_pixels_are_exact(void **state) {
    struct island island = island_of(LONGEST, 3, 2);
    const int64_t far = LONGEST - 1;
    const int unit = moments_unit(&island, 1);
    const float value = 1.5f;
    const int64_t q = moments_quantise(value, ldexp(1, -unit));
    (void)state;
    assert_true(ldexp((double)q, unit) == 1.5);
    for (int i = 0; i < 3; i++)
        moments_add_row(&island, &value, 1, far, far - i, ldexp(1, -unit));
    assert_true(island_sum(&island, SUM_Q) == (int128)3 * q);
    assert_true(island_sum(&island, SUM_QX) == (int128)3 * q * far);
    assert_true(island_sum(&island, SUM_QXX) == (int128)3 * q * far * far);
    assert_true(island_sum(&island, SUM_QXY) == (int128)q * far * (3 * far - 3));
    assert_true(island_sum(&island, SUM_XX) == (int128)3 * far * far);
    assert_true(island_sum(&island, SUM_Y) == (int128)3 * far - 3);
    assert_true(moments_numbers(LONGEST) == far * (far + 1) / 2);
    assert_true(moments_squares(LONGEST) == (int128)far * (far + 1) / 6 * (2 * far + 1));
    assert_true(moments_squares(1 << 20) ==
                moments_squares((1 << 20) - 1) + (int128)((1 << 20) - 1) * ((1 << 20) - 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_room),       cmocka_unit_test(pixels_are_multiples),
        cmocka_unit_test(small_sums_are_small), cmocka_unit_test(squares_add_up),
        cmocka_unit_test(rows_are_pixels),      cmocka_unit_test(far_pixels_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
