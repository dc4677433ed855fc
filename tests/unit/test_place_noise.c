/* The noise that two places have in common, where the correlation was measured: as the closed form
 * has it if it is that of the beam, and as the product of the shapes if pixels are independent. */
#include <stdlib.h>

#include "measure/beam_frame.h"
#include "measure/place_noise.h"
#include "unit.h"

static struct place place_with(const struct tensor *moments, double x, double y) {
    return (struct place){.x = x, .y = y, .moments = *moments, .form = tensor_inverse(moments)};
}

/* Compares pairs of shapes at random distances with what they should have, in units of a lone
 * place's. */
static void compare(const struct place_noise *noise, const struct place_noise *expected,
                    const struct tensor *a, const struct tensor *b, double tolerance) {
    struct random r = {3};
    for (int i = 0; i < 300; i++) {
        const double reach = i < 20 ? 0.01 : 14;
        const struct place p = place_with(a, 50 + random_unit(&r), 50 + random_unit(&r));
        const struct place q = place_with(b, p.x + reach * (2 * random_unit(&r) - 1),
                                          p.y + reach * (2 * random_unit(&r) - 1));
        const double value = place_noise_between(noise, &p, &q);
        const double right =
            expected ? place_noise_between(expected, &p, &q) : place_product(&p, &q) / (2 * M_PI);
        const double lone =
            expected ? place_noise_between(expected, &p, &p) : place_product(&p, &p) / (2 * M_PI);
        if (!(fabs(value - right) < tolerance * lone))
            fail_msg("%g is not %g, of %g, at %g %g", value, right, lone, q.x - p.x, q.y - p.y);
    }
}

static const struct fit_frame FRAME = {0.45, 0.08, 0.5, true, FIT_SHAPES_CHOSEN};

static void as_the_beam(void **state) {
    const struct tensor beam = beam_frame_moments(&FRAME), wide = {14, 7, -3};
    struct correlation c = correlation_of_beam(&FRAME);
    struct place_noise closed, table;
    (void)state;
    assert_true(place_noise_make(&c, &beam, 0, &closed));
    assert_null(closed.weights.value);
    c.is_measured = true;
    assert_true(place_noise_make(&c, &beam, 0, &table));
    assert_non_null(table.weights.value);
    compare(&table, &closed, &beam, &beam, 3e-3);
    compare(&table, &closed, &beam, &wide, 1e-3);
    compare(&table, &closed, &wide, &wide, 1e-3);
    place_noise_clear(&table);
    place_noise_clear(&closed);
}

/* The weights of points are narrower than the beam: they have a table with each other, and with the
 * beam. Both tables have steps of the correlation's lags, and the interpolation an error. */
static void with_weights(void **state) {
    const struct tensor beam = beam_frame_moments(&FRAME);
    const struct tensor weights = {beam.xx / 3, beam.yy / 3, beam.xy / 3};
    struct correlation c = correlation_of_beam(&FRAME);
    struct place_noise closed, table;
    (void)state;
    assert_true(place_noise_make(&c, &beam, 2, &closed));
    c.is_measured = true;
    assert_true(place_noise_make(&c, &beam, 2, &table));
    compare(&table, &closed, &weights, &weights, 3e-3);
    compare(&table, &closed, &weights, &beam, 3e-3);
    for (int i = 0; i < (2 * table.mixed.half_x + 1) * (2 * table.mixed.half_y + 1); i++)
        table.mixed.value[i] = 0;
    const struct place a = {.moments = weights}, b = {.moments = beam};
    assert_true(place_noise_between(&table, &a, &b) == 0); /* it is read in this table */
    assert_true(place_noise_between(&table, &a, &a) > 0);
    place_noise_clear(&table);
    place_noise_clear(&closed);
}

static void of_white_noise(void **state) {
    const struct tensor beam = beam_frame_moments(&FRAME), wide = {14, 7, -3};
    struct correlation c = correlation_of_beam(&FRAME);
    struct place_noise noise;
    (void)state;
    for (int j = -c.lags.half_y; j <= c.lags.half_y; j++)
        for (int i = -c.lags.half_x; i <= c.lags.half_x; i++)
            *lags_value(&c.lags, i, j) = i == 0 && j == 0;
    c.is_measured = true;
    c.fine = c.lags; /* each pixel alone */
    assert_true(place_noise_make(&c, &beam, 0, &noise));
    compare(&noise, NULL, &beam, &beam, 2e-2);
    compare(&noise, NULL, &wide, &beam, 1e-3);
    place_noise_clear(&noise);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_beam),
        cmocka_unit_test(with_weights),
        cmocka_unit_test(of_white_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
