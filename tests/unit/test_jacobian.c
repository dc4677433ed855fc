/* The Jacobian from pixels to the sky, against formulas of projections. */
#include "measure/jacobian.h"
#include "sky.h"

static struct jacobian jacobian(const char *cards, double x, double y) {
    struct srcfind_image metadata;
    struct jacobian j;
    struct error error;
    struct wcs *wcs = wcs_of(cards, &metadata);
    assert_int_equal(jacobian_at(wcs, &metadata, x, y, &j, &error), SRCFIND_OK);
    wcs_close(wcs);
    return j;
}

#define CARDS(projection, pixel)                                                                   \
    "CTYPE1  = 'RA---" projection "'\nCTYPE2  = 'DEC--" projection                                 \
    "'\nCRPIX1  = 1\nCRPIX2  = 1\nCRVAL1  = 359.99\nCRVAL2  = 0\nCDELT1  = -" pixel                \
    "\nCDELT2  = " pixel "\n"

/* In CAR, latitude is y, and a degree of longitude is cos(latitude) degrees wide. Across RA 0,
 * where longitudes have the largest rounding errors. */
static void plate_carree(void **state) {
    static const double latitudes[] = {0, 33.3, -60, 85};
    (void)state;
    for (int i = 0; i < 4; i++) {
        const double y = latitudes[i] * 1000;
        const struct jacobian j = jacobian(CARDS("CAR", "0.001"), -3, y);
        assert_within(j.east_x / (-0.001 * cos(y * 0.001 * RADIAN)), 1, 2e-9);
        assert_within(j.north_y / 0.001, 1, 2e-9);
        assert_within(j.east_y / 0.001, 0, 2e-9);
        assert_within(j.north_x / 0.001, 0, 2e-9);
    }
}

/* Small and large pixels. */
static void other_pixels(void **state) {
    (void)state;
    const struct jacobian small = jacobian(CARDS("CAR", "1E-6"), 10, 20);
    assert_within(small.east_x / -1e-6, 1, 1e-7);
    const struct jacobian large = jacobian(CARDS("CAR", "0.5"), 10, 20);
    assert_within(large.east_x / (-0.5 * cos(10 * RADIAN)), 1, 2e-9);
}

/* A point beside the limb has neighbours on one side alone. */
static void limb(void **state) {
    const double radius = 1 / RADIAN / 0.01;
    (void)state;
    for (int way = -1; way <= 1; way += 2) {
        const struct jacobian j = jacobian(CARDS("SIN", "0.01"), way * (radius - 0.01), 0);
        assert_true(isfinite(j.east_x) && isfinite(j.north_y) && j.east_x < 0);
        assert_within(j.north_y / 0.01, 1, 1e-3);
        const struct jacobian up = jacobian(CARDS("SIN", "0.01"), 0, way * (radius - 0.01));
        assert_true(isfinite(up.east_x) && isfinite(up.north_y) && up.north_y > 0);
    }
    assert_true(isnan(jacobian(CARDS("SIN", "0.01"), 2 * radius, 0).east_x));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plate_carree),
                                       cmocka_unit_test(other_pixels), cmocka_unit_test(limb)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
