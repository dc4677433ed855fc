/* Error formulas against their published special cases. */
#include "measure/uncertainty.h"
#include "unit.h"

static const struct noise noise = {2, 30};

static struct tensor position_of(const struct tensor *shape, double snr,
                                 const struct tensor *spread, double sum) {
    return uncertainty_of_source(&noise, shape, snr, spread, sum, 1).position;
}

static double total_of(const struct tensor *shape, double snr, double n) {
    const struct tensor no_spread = {0, 0, 0};
    return uncertainty_of_source(&noise, shape, snr, &no_spread, 1, n).relative_total;
}

static void assert_close(double value, double expected) {
    assert_true(fabs(value - expected) <= 1e-12 * fabs(expected));
}

/* Condon 1997: a point source has rho = sqrt(2) SNR, so sigma(x) = FWHM / (sqrt(8 ln 2) SNR). */
static void point_source(void **state) {
    const double beam = noise.pixels / (2 * M_PI);
    const struct tensor shape = {beam, beam, 0}, no_spread = {0, 0, 0};
    const struct tensor c = position_of(&shape, 10, &no_spread, 1);
    (void)state;
    assert_close(c.xx, beam / 100);
    assert_close(c.yy, beam / 100);
    assert_true(fabs(c.xy) < 1e-15);
    assert_close(total_of(&shape, 10, 1e9), sqrt(3) / 10);
}

/* A source that is narrower than the beam is taken as a point source. */
static void narrow_source(void **state) {
    const struct tensor none = {0, 0, 0},
                        point = {noise.pixels / (2 * M_PI), noise.pixels / (2 * M_PI), 0};
    (void)state;
    assert_close(total_of(&none, 7, 4), total_of(&point, 7, 4));
}

/* The longer axis is the less certain one, and the tensor turns with the source. */
static void turned_source(void **state) {
    const struct tensor lying = {100, 25, 0}, standing = {25, 100, 0},
                        diagonal = {62.5, 62.5, 37.5};
    const struct tensor none = {0, 0, 0};
    const struct tensor a = position_of(&lying, 10, &none, 1);
    const struct tensor b = position_of(&standing, 10, &none, 1);
    const struct tensor c = position_of(&diagonal, 10, &none, 1);
    (void)state;
    assert_true(a.xx > a.yy);
    assert_close(a.xx, b.yy);
    assert_close(a.yy, b.xx);
    assert_close(c.xx + c.yy, a.xx + a.yy);
    assert_close(c.xy, (a.xx - a.yy) / 2);
}

/* A wide flat island: the noise of its centroid. */
static void given_pixels(void **state) {
    const struct tensor shape = {5, 5, 0}, spread = {1e6, 2e6, 1e5};
    const struct tensor c = position_of(&shape, 1000, &spread, 1e4);
    (void)state;
    assert_close(c.xx, 4 * 30 * 1e6 / 1e8);
    assert_close(c.yy, 4 * 30 * 2e6 / 1e8);
    assert_close(c.xy, 4 * 30 * 1e5 / 1e8);
}

/* Pixels in one row have no spread along y: there the error is that of a fit. Where one estimate is
 * the larger along x and the other along y, their covariance is one that the variances allow. */
static void one_row_of_pixels(void **state) {
    const struct tensor shape = {5, 5, 0}, row = {1e6, 0, 0}, none = {0, 0, 0};
    const struct tensor lying = {1000, 5, 60}, standing = {1e3, 2e6, 4e4};
    const struct tensor fit = position_of(&shape, 1000, &none, 1e4);
    const struct tensor c = position_of(&shape, 1000, &row, 1e4);
    const struct tensor mixed = position_of(&lying, 10, &standing, 1e4);
    (void)state;
    assert_close(c.xx, 4 * 30 * 1e6 / 1e8);
    assert_close(c.yy, fit.yy);
    assert_true(c.yy > 0);
    assert_true(c.xy == 0);
    assert_close(mixed.xx, position_of(&lying, 10, &none, 1).xx);
    assert_close(mixed.yy, 4 * 30 * 2e6 / 1e8);
    assert_true(mixed.xy != 0 && mixed.xy * mixed.xy < mixed.xx * mixed.yy);
}

/* The sum of an island has the noise of all pairs of pixels of a box with its sides and as many
 * pixels as it has. */
static void sums(void **state) {
    static const struct fit_frame beam = {0.5, 0.1, 0.4, true, FIT_SHAPES_CHOSEN};
    const struct correlation c = correlation_of_beam(&beam);
    const struct island whole = {.x_min = 3, .x_max = 12, .y_min = 5, .y_max = 8};
    const struct island one = {.x_min = 3, .x_max = 3, .y_min = 5, .y_max = 5};
    double sum = 0;
    (void)state;
    for (int i = 0; i < 40 * 40; i++)
        sum += correlation_at(&c, i / 40 % 10 - i % 10, i / 400 - i % 40 / 10);
    assert_true(fabs(uncertainty_of_sum(&c, &whole, 40) / sqrt(sum) - 1) < 1e-12);
    assert_close(uncertainty_of_sum(&c, &one, 1), 1);
    assert_close(uncertainty_of_sum(&c, &whole, 10), sqrt(correlation_of_box(&c, 5, 2)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(point_source),      cmocka_unit_test(narrow_source),
        cmocka_unit_test(turned_source),     cmocka_unit_test(given_pixels),
        cmocka_unit_test(one_row_of_pixels), cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
