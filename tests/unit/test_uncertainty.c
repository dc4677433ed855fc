/* Error formulas against their published special cases. */
#include <string.h>

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

static void sums(void **state) {
    (void)state;
    assert_close(uncertainty_of_sum(&noise, 1), 2);
    assert_close(uncertainty_of_sum(&noise, 10), 20);
    assert_close(uncertainty_of_sum(&noise, 3000), 2 * 300);
}

/* --- fits --- */

static const struct fit_frame pixels = {1, 0, 1, true,
                                        FIT_SHAPES_CHOSEN}; /* the beam has a sigma of one pixel */

/* A source whose sigmas are in pixels, along x and y. */
static struct gaussian lying(double major, double minor) {
    return (struct gaussian){1, 0, 0, {1 / (major * major), 1 / (minor * minor), 0}};
}

/* --- the same by plain sums --- */

enum { PEAK, X, Y, XX, YY, XY, N };

/* Derivatives of a Gaussian of peak 1 by its peak, its centre and its second moments. */
static void derive(const struct tensor *m, double x, double y, double *by) {
    const double g = exp(-(x * x / m->xx + y * y / m->yy) / 2), a = x / m->xx, b = y / m->yy;
    const double slopes[N] = {1, a, b, a * a / 2, b * b / 2, a * b};
    for (int i = 0; i < N; i++)
        by[i] = slopes[i] * g;
}

/* Inverts a matrix (Gauss and Jordan); it is positive definite, so that no pivot is 0. */
static void invert(double a[N][N], double inverse[N][N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            inverse[i][j] = i == j;
    for (int k = 0; k < N; k++) {
        const double pivot = a[k][k];
        for (int j = 0; j < N; j++) {
            a[k][j] /= pivot;
            inverse[k][j] /= pivot;
        }
        for (int i = 0; i < N; i++) {
            const double factor = i == k ? 0 : a[i][k];
            for (int j = 0; j < N; j++) {
                a[i][j] -= factor * a[k][j];
                inverse[i][j] -= factor * inverse[k][j];
            }
        }
    }
}

enum { SIDE = 45 };

/* Covariance of the first n parameters of a weighted fit in noise of rms 1 whose autocorrelation is
 * the beam: A^-1 B A^-1, with sums over a fine grid. The squares have the weight g^(2 exponent). */
static void covariance_by_sums(const struct tensor *m, double exponent, int n, double c[N][N]) {
    static double slope[SIDE * SIDE][N], weighted[SIDE * SIDE][N], noisy[SIDE * SIDE][N];
    const double step_x = 0.15 * sqrt(m->xx), step_y = 0.15 * sqrt(m->yy);
    double a[N][N] = {{0}}, b[N][N] = {{0}}, inverse[N][N];
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = step_x * (i % SIDE - SIDE / 2), y = step_y * (i / SIDE - SIDE / 2);
        const double g = exp(-(x * x / m->xx + y * y / m->yy) / 2);
        derive(m, x, y, slope[i]);
        for (int k = 0; k < N; k++)
            weighted[i][k] = slope[i][k] * pow(g, 2 * exponent);
    }
    memset(noisy, 0, sizeof noisy);
    for (int i = 0; i < SIDE * SIDE; i++) {
        for (int j = 0; j < SIDE * SIDE; j++) {
            const double dx = step_x * (i % SIDE - j % SIDE), dy = step_y * (i / SIDE - j / SIDE);
            const double correlation = exp(-(dx * dx + dy * dy) / 2);
            for (int k = 0; k < n; k++)
                noisy[i][k] += correlation * weighted[j][k];
        }
    }
    for (int k = 0; k < N; k++)
        a[k][k] = 1; /* of parameters that are not fitted */
    for (int k = 0; k < n; k++) {
        for (int l = 0; l < n; l++) {
            a[k][l] = 0;
            for (int i = 0; i < SIDE * SIDE; i++) {
                a[k][l] += weighted[i][k] * slope[i][l];
                b[k][l] += weighted[i][k] * noisy[i][l];
            }
        }
    }
    invert(a, inverse);
    for (int k = 0; k < N; k++) {
        for (int l = 0; l < N; l++) {
            c[k][l] = 0;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    c[k][l] += inverse[k][i] * b[i][j] * inverse[j][l];
        }
    }
}

/* The variance of the total flux over its square, for a peak of 1. */
static double variance_of_total(const struct tensor *m, double c[N][N]) {
    return c[PEAK][PEAK] + c[XX][XX] / (4 * m->xx * m->xx) + c[YY][YY] / (4 * m->yy * m->yy) +
           c[PEAK][XX] / m->xx + c[PEAK][YY] / m->yy + c[XX][YY] / (2 * m->xx * m->yy);
}

static double total_by_sums(const struct tensor *m, double exponent) {
    double c[N][N];
    covariance_by_sums(m, exponent, N, c);
    return sqrt(variance_of_total(m, c));
}

static void assert_near(double a, double b) {
    if (!(fabs(a / b - 1) < 2e-3))
        fail_msg("%.9g is not %.9g", a, b);
}

static void assert_errors(double major, double minor) {
    const struct gaussian g = lying(major, minor);
    const struct tensor m = {major * major, minor * minor, 0};
    const struct fit_uncertainty u = uncertainty_of_fit(&g, &pixels, 10, false, 0);
    const struct fit_uncertainty shaped = uncertainty_of_fit(&g, &pixels, 10, true, 0);
    double c[N][N], fixed[N][N];
    const double area = major * minor, exponent = area > 1 ? 2 * pow(area, -1.5) : 2;
    covariance_by_sums(&m, exponent, N, c);
    covariance_by_sums(&m, exponent, XX, fixed);
    const double variance_of_area = c[XX][XX] / (m.xx * m.xx) + c[YY][YY] / (m.yy * m.yy) +
                                    2 * c[XX][YY] / (m.xx * m.yy); /* over a quarter its square */
    assert_near(u.area, area);
    assert_near(u.e_area, area * sqrt(variance_of_area) / 20);
    assert_near(u.relative_peak, sqrt(c[PEAK][PEAK]) / 10);
    assert_near(u.relative_total, sqrt(variance_of_total(&m, c)) / 10);
    assert_near(u.position.xx, c[X][X] / 100);
    assert_near(u.position.yy, c[Y][Y] / 100);
    assert_near(u.shape.major, c[XX][XX] / 100);
    assert_near(u.shape.minor, c[YY][YY] / 100);
    assert_near(u.shape.mixed, c[XY][XY] / 100);
    assert_near(u.shape.covariance, c[XX][YY] / 100);
    assert_near(shaped.relative_peak, sqrt(fixed[PEAK][PEAK]) / 10);
    assert_near(shaped.relative_total, sqrt(fixed[PEAK][PEAK]) / 10);
    assert_near(shaped.position.xx, fixed[X][X] / 100);
}

static void fits_by_sums(void **state) {
    (void)state;
    assert_errors(1, 1);
    assert_errors(1.3, 1.1);
    assert_errors(2, 0.8);
    assert_errors(0.9, 0.7);
    assert_errors(4, 2);
}

/* Wide sources: the weights of a source of 2 beams nearly halve the errors of those of a point, and
 * no exponent beside theirs is better by more than a hundredth. */
static void best_weights(void **state) {
    static const double widths[] = {1, 1.2, 1.5, 2, 3, 4};
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const struct tensor m = {widths[i] * widths[i], widths[i] * widths[i], 0};
        const double own = total_by_sums(&m, fit_core_exponent(m.xx));
        for (double exponent = 0.01; exponent < 2.5; exponent *= 1.6)
            if (i > 0) /* a point has no best one: the higher, the better */
                assert_true(own < 1.01 * total_by_sums(&m, exponent));
    }
    const struct tensor two = {4, 4, 0};
    assert_true(total_by_sums(&two, fit_core_exponent(4)) < 0.75 * total_by_sums(&two, 2));
}

/* A point source at 10 sigma: nearly Condon's errors, of which all are 1 / 10. */
static void fit_of_beam(void **state) {
    const struct gaussian g = lying(1, 1);
    const struct fit_uncertainty u = uncertainty_of_fit(&g, &pixels, 10, true, 0);
    (void)state;
    assert_true(fabs(u.relative_peak - 0.1014) < 1e-4);
    assert_true(fabs(u.relative_total - 0.1014) < 1e-4);
    assert_true(fabs(sqrt(u.position.xx) - 0.1029) < 1e-4);
    assert_true(fabs(u.position.xy) < 1e-17);
}

/* A symmetric matrix after a change of coordinates: t m t^T. */
static struct tensor turned(const double *t, const struct tensor *m) {
    return (struct tensor){t[0] * t[0] * m->xx + 2 * t[0] * t[1] * m->xy + t[1] * t[1] * m->yy,
                           t[2] * t[2] * m->xx + 2 * t[2] * t[3] * m->xy + t[3] * t[3] * m->yy,
                           t[0] * t[2] * m->xx + (t[0] * t[3] + t[1] * t[2]) * m->xy +
                               t[1] * t[3] * m->yy};
}

/* What the choice of the beam's shape may have cost is an error of the total flux alone. */
static void fit_that_lost_flux(void **state) {
    const struct gaussian g = lying(1, 1);
    const struct fit_uncertainty point = uncertainty_of_fit(&g, &pixels, 10, true, 0);
    struct fit_uncertainty u = uncertainty_of_fit(&g, &pixels, 10, true, 0.2);
    (void)state;
    assert_close(u.relative_total, hypot(point.relative_total, 0.3));
    u.relative_total = point.relative_total;
    ASSERT_SAME(u, point);
}

/* Any beam and any source: in the frame the beam is round, and what is not about axes is the same
 * there; covariances are those of the frame, carried to pixels. */
static void fit_in_a_frame(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const struct fit_frame f = {0.2 + random_unit(&r), 2 * random_unit(&r) - 1,
                                    0.2 + random_unit(&r), true, FIT_SHAPES_CHOSEN};
        const double to_pixels[4] = {1 / f.ux, -f.uy / (f.ux * f.vy), 0, 1 / f.vy};
        const double a = 0.5 + 3 * random_unit(&r), b = 0.5 + 3 * random_unit(&r);
        const struct tensor in_frame = {a, b, (2 * random_unit(&r) - 1) * 0.9 * sqrt(a * b)};
        const struct tensor in_pixels = turned(to_pixels, &in_frame);
        const struct gaussian there = {1, 0, 0, tensor_inverse(&in_frame)};
        const struct gaussian here = {1, 0, 0, tensor_inverse(&in_pixels)};
        const double snr = 5 + 100 * random_unit(&r);
        const struct fit_uncertainty e = uncertainty_of_fit(&there, &pixels, snr, false, 0);
        const struct fit_uncertainty u = uncertainty_of_fit(&here, &f, snr, false, 0);
        const struct tensor position = turned(to_pixels, &e.position);
        const double scale = position.xx + position.yy;
        assert_true(fabs(u.relative_peak / e.relative_peak - 1) < 1e-9);
        assert_true(fabs(u.relative_total / e.relative_total - 1) < 1e-9);
        assert_true(fabs(u.area / e.area - 1) < 1e-9 && fabs(u.e_area / e.e_area - 1) < 1e-9);
        assert_true(fabs(u.position.xx - position.xx) < 1e-9 * scale);
        assert_true(fabs(u.position.yy - position.yy) < 1e-9 * scale);
        assert_true(fabs(u.position.xy - position.xy) < 1e-9 * scale);
        assert_true(fabs(u.shape.major / e.shape.major - 1) < 1e-9);
        assert_true(fabs(u.shape.minor / e.shape.minor - 1) < 1e-9);
        assert_true(fabs(u.shape.mixed / e.shape.mixed - 1) < 1e-9);
        /* to_pixels carries the axes of the source in the frame to its moments in pixels */
        const struct axes axes = tensor_axes(&in_frame);
        const struct tensor own = {axes.major, axes.minor, 0};
        const struct tensor carried = turned(u.shape.to_pixels, &own);
        assert_true(fabs(carried.xx / in_pixels.xx - 1) < 1e-9);
        assert_true(fabs(carried.yy / in_pixels.yy - 1) < 1e-9);
        assert_true(fabs(carried.xy - in_pixels.xy) < 1e-9 * (in_pixels.xx + in_pixels.yy));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(point_source),       cmocka_unit_test(narrow_source),
        cmocka_unit_test(turned_source),      cmocka_unit_test(given_pixels),
        cmocka_unit_test(one_row_of_pixels),  cmocka_unit_test(sums),
        cmocka_unit_test(fit_of_beam),        cmocka_unit_test(fits_by_sums),
        cmocka_unit_test(fit_that_lost_flux), cmocka_unit_test(fit_in_a_frame),
        cmocka_unit_test(best_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
