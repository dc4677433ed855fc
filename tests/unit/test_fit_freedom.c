/* Degrees of freedom of fits: beside traces of matrices over all pixels, and in cases with a closed
 * form. */
#include <stdlib.h>
#include <string.h>

#include "measure/fit_freedom.h"
#include "unit.h"

enum { SIDE = 41, PIXELS = SIDE * SIDE };

/* A beam of 5.9 x 4.7 pixels. */
static const struct fit_frame BEAM = {0.4, 0.05, 0.5, true, FIT_SHAPES_CHOSEN};

/* Components: their widths along u and v in beam sigmas, and their lean. */
static const double SHAPES[][3] = {{1, 1, 0}, {1.5, 1.5, 0}, {1.8, 1, 0.1}};

static void component(const double shape[3], double c[FIT_PARAMETERS]) {
    const double values[FIT_PARAMETERS] = {
        1, 0, 0, 1 / (shape[0] * shape[0]), shape[2], 1 / (shape[1] * shape[1])};
    memcpy(c, values, sizeof values);
}

/* The derivatives of a component by its parameters at pixel i of a square around it. */
static void differentiate(const double *c, int i, double *d) {
    const double x = i % SIDE - SIDE / 2, y = i / SIDE - SIDE / 2;
    const double u = BEAM.ux * x + BEAM.uy * y, v = BEAM.vy * y;
    const double g = exp(-0.5 * (c[FIT_P] * u * u + 2 * c[FIT_Q] * u * v + c[FIT_R] * v * v));
    const double values[FIT_PARAMETERS] = {g,
                                           g * (c[FIT_P] * u + c[FIT_Q] * v),
                                           g * (c[FIT_Q] * u + c[FIT_R] * v),
                                           g * u * u,
                                           g * u * v,
                                           g * v * v};
    memcpy(d, values, sizeof values);
}

/* Makes the columns of S, n values a pixel, orthogonal and of length 1. */
static void orthogonalise(double *s, int n) {
    for (int k = 0; k < n; k++) {
        for (int m = 0; m <= k; m++) {
            double product = 0;
            for (int i = 0; i < PIXELS; i++)
                product += s[i * n + k] * s[i * n + m];
            for (int i = 0; i < PIXELS; i++)
                s[i * n + k] =
                    m < k ? s[i * n + k] - product * s[i * n + m] : s[i * n + k] / sqrt(product);
        }
    }
}

/* The trace of S^T C S, of orthogonal columns: what least squares take of noise of the correlation
 * C. */
static double taken_by_matrices(const double *c, int n, const struct correlation *noise) {
    double *s = calloc((size_t)PIXELS * FIT_PARAMETERS, sizeof *s), sum = 0;
    assert_non_null(s);
    for (int i = 0; i < PIXELS; i++) {
        double d[FIT_PARAMETERS];
        differentiate(c, i, d);
        memcpy(s + (ptrdiff_t)i * n, d, (size_t)n * sizeof *d);
    }
    orthogonalise(s, n);
    for (int i = 0; i < PIXELS; i++) {
        for (int k = 0; k < PIXELS; k++) {
            const double rho = correlation_at(noise, k % SIDE - i % SIDE, k / SIDE - i / SIDE);
            for (int a = 0; a < n && rho != 0; a++)
                sum += rho * s[i * n + a] * s[k * n + a];
        }
    }
    free(s);
    return sum;
}

static void as_by_matrices(void **state) {
    const struct correlation noise = correlation_of_beam(&BEAM);
    const struct noise_areas areas = noise_areas_of(&noise);
    (void)state;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        double c[FIT_PARAMETERS];
        component(SHAPES[i], c);
        for (int is_free = 0; is_free < 2; is_free++) {
            const double taken = fit_freedom_taken(c, is_free, &BEAM, &areas);
            const double by_matrices = taken_by_matrices(c, is_free ? FIT_PARAMETERS : 3, &noise);
            print_message("%g x %g: %g, by matrices %g\n", SHAPES[i][0], SHAPES[i][1], taken,
                          by_matrices);
            assert_true(fabs(taken / by_matrices - 1) < 0.02);
        }
    }
}

/* Noise of independent pixels: 1 a parameter. Without a beam it is not measured. */
static void independent_pixels(void **state) {
    const struct fit_frame wide = {0.02, 0, 0.02, false, FIT_SHAPES_CHOSEN};
    const struct correlation noise = correlation_of_beam(&wide);
    const struct noise_areas areas = noise_areas_of(&noise);
    double c[FIT_PARAMETERS];
    (void)state;
    component(SHAPES[0], c);
    assert_true(areas.one == 1 && areas.square == 1);
    assert_true(fabs(fit_freedom_taken(c, false, &wide, &areas) - 3) < 0.01);
    assert_true(fabs(fit_freedom_taken(c, true, &wide, &areas) - 6) < 0.02);
}

/* A beam's correlation has its area and half of it; the fit of a point takes 14 / 9 of the area. */
static void of_the_beam(void **state) {
    const struct correlation noise = correlation_of_beam(&BEAM);
    const struct noise_areas areas = noise_areas_of(&noise);
    const double area = 2 * M_PI / (BEAM.ux * BEAM.vy);
    double c[FIT_PARAMETERS];
    (void)state;
    component(SHAPES[0], c);
    assert_true(fabs(areas.one / area - 1) < 0.01);
    assert_true(fabs(areas.square / area - 0.5) < 0.005);
    assert_true(fabs(fit_freedom_taken(c, false, &BEAM, &areas) / area - 14.0 / 9) < 0.02);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_by_matrices),
        cmocka_unit_test(independent_pixels),
        cmocka_unit_test(of_the_beam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
