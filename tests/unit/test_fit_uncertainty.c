/* Errors of fits against plain sums over the pixels of the fit, in noise of several kinds. */
#include <string.h>

#include "measure/fit_uncertainty.h"
#include "unit.h"

/* The beam has a sigma of SIGMA pixels. */
static const double SIGMA = 3;
static const struct fit_frame round_beam = {1.0 / 3, 0, 1.0 / 3, true, FIT_SHAPES_CHOSEN};

/* A source whose sigmas are in those of the beam, along x and y. */
static struct gaussian lying(double major, double minor) {
    const double a = SIGMA * major, b = SIGMA * minor;
    return (struct gaussian){1, 0, 0, {1 / (a * a), 1 / (b * b), 0}};
}

/* The errors of a fit at 10 rms. */
static struct fit_uncertainty errors_at_ten(const struct gaussian *g, const struct fit_frame *frame,
                                            const struct correlation *c, bool has_beam_shape) {
    const struct fit_uncertainty of_one = fit_uncertainty_of(g, frame, c, has_beam_shape);
    return fit_uncertainty_at(&of_one, 10);
}

/* The correlation of the noise at an offset in beam sigmas. */
typedef double correlation_function(double u, double v);

static double as_beam(double u, double v) {
    return exp(-(u * u + v * v) / 2);
}

/* Narrower than the beam, tilted, with sidelobes below 0. */
static double with_sidelobes(double u, double v) {
    return exp(-(u * u + 1.6 * v * v + 0.8 * u * v)) * cos(1.5 * u - 0.7 * v);
}

static struct correlation correlation_by(correlation_function *f) {
    struct correlation c = correlation_of_beam(&round_beam);
    struct lags *l = &c.fine;
    for (int j = -l->half_y; j <= l->half_y; j++)
        for (int i = l->first[j + l->half_y]; i <= lags_last(l, j); i++)
            l->value[j + l->half_y][i + l->half_x] =
                f(i * l->step_x / SIGMA, j * l->step_y / SIGMA);
    return c;
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

/* Covariance of the first n parameters of a weighted fit in noise of rms 1: A^-1 B A^-1, with sums
 * over a fine grid. The squares have the weight g^(2 exponent). */
static void covariance_by_sums(const struct tensor *m, double exponent, int n,
                               correlation_function *correlation_at_offset, double c[N][N]) {
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
            const double correlation = correlation_at_offset(dx, dy);
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
    covariance_by_sums(m, exponent, N, as_beam, c);
    return sqrt(variance_of_total(m, c));
}

static void assert_near(double a, double b) {
    if (!(fabs(a / b - 1) < 1e-2))
        fail_msg("%.9g is not %.9g", a, b);
}

static void assert_errors(double major, double minor, correlation_function *noise) {
    const struct gaussian g = lying(major, minor);
    const struct tensor m = {major * major, minor * minor, 0};
    const struct correlation correlation = correlation_by(noise);
    const struct fit_uncertainty u = errors_at_ten(&g, &round_beam, &correlation, false);
    const struct fit_uncertainty shaped = errors_at_ten(&g, &round_beam, &correlation, true);
    double c[N][N], fixed[N][N];
    const double area = major * minor, exponent = area > 1 ? 2 * pow(area, -1.5) : 2;
    const double pixels = SIGMA * SIGMA / 100, largest = sqrt(m.xx * m.yy) / 100;
    covariance_by_sums(&m, exponent, N, noise, c);
    covariance_by_sums(&m, exponent, XX, noise, fixed);
    const double variance_of_area = c[XX][XX] / (m.xx * m.xx) + c[YY][YY] / (m.yy * m.yy) +
                                    2 * c[XX][YY] / (m.xx * m.yy); /* over a quarter its square */
    assert_near(u.area, area);
    assert_near(u.e_area, area * sqrt(variance_of_area) / 20);
    assert_near(u.relative_peak, sqrt(c[PEAK][PEAK]) / 10);
    assert_near(u.relative_total, sqrt(variance_of_total(&m, c)) / 10);
    assert_near(u.position.xx, c[X][X] * pixels);
    assert_near(u.position.yy, c[Y][Y] * pixels);
    assert_near(u.position.xy + pixels, c[X][Y] * pixels + pixels);
    assert_near(u.shape.major, c[XX][XX] / 100);
    assert_near(u.shape.minor, c[YY][YY] / 100);
    assert_near(u.shape.mixed, c[XY][XY] / 100);
    assert_near(u.shape.covariance + largest, c[XX][YY] / 100 + largest);
    assert_near(u.shape.major_mixed + largest, c[XX][XY] / 100 + largest);
    assert_near(u.shape.minor_mixed + largest, c[YY][XY] / 100 + largest);
    assert_near(shaped.relative_peak, sqrt(fixed[PEAK][PEAK]) / 10);
    assert_near(shaped.relative_total, sqrt(fixed[PEAK][PEAK]) / 10);
    assert_near(shaped.position.xx, fixed[X][X] * pixels);
}

static void fits_by_sums(void **state) {
    (void)state;
    assert_errors(1, 1, as_beam);
    assert_errors(1.3, 1.1, as_beam);
    assert_errors(2, 0.8, as_beam);
    assert_errors(0.9, 0.7, as_beam);
    assert_errors(4, 2, as_beam);
}

static void fits_in_other_noise(void **state) {
    (void)state;
    assert_errors(1, 1, with_sidelobes);
    assert_errors(1.6, 1.1, with_sidelobes);
    assert_errors(4, 2, with_sidelobes);
}

/* Where all pixels are independent, sums over the pixels of the fit, at many places of the centre
 * between pixels, have the same covariance. */
static void fits_in_white_noise(void **state) {
    static const struct fit_frame none = {1.0 / 3, 0, 1.0 / 3, false, FIT_SHAPES_CHOSEN};
    const struct correlation c = correlation_of_beam(&none);
    const struct gaussian g = lying(1, 1);
    const struct fit_uncertainty u = fit_uncertainty_of(&g, &round_beam, &c, true);
    (void)state;
    double square = 0, fourth = 0; /* of the weights: g^6 and g^10 */
    for (int y = -20; y <= 20; y++) {
        for (int x = -20; x <= 20; x++) {
            const double shape = exp(-(x * x + y * y) / (2 * SIGMA * SIGMA));
            square += pow(shape, 6);
            fourth += pow(shape, 10);
        }
    }
    assert_near(u.relative_peak, sqrt(fourth) / square);
}

/* A correlation that no noise has, whose sums are below 0: no error is below that of a tenth of the
 * variance of independent pixels, in which the same fit is. */
static void least_errors(void **state) {
    static const struct fit_frame none = {1.0 / 3, 0, 1.0 / 3, false, FIT_SHAPES_CHOSEN};
    const struct correlation white = correlation_of_beam(&none);
    struct correlation c = correlation_of_beam(&round_beam);
    (void)state;
    for (int j = -c.lags.half_y; j <= c.lags.half_y; j++)
        for (int i = c.lags.first[j + c.lags.half_y]; i <= lags_last(&c.lags, j); i++)
            *lags_value(&c.lags, i, j) = i == 0 && j == 0 ? 1 : -0.3;
    correlation_complete(&c);
    for (double width = 1; width < 3; width += 0.5) {
        const struct gaussian g = lying(width, width);
        const struct fit_uncertainty least = fit_uncertainty_of(&g, &round_beam, &white, true);
        const struct fit_uncertainty u = fit_uncertainty_of(&g, &round_beam, &c, true);
        assert_true(fabs(u.relative_peak / (sqrt(0.1) * least.relative_peak) - 1) < 0.02);
        assert_true(u.position.xx > 0.098 * least.position.xx);
        const struct fit_uncertainty free = fit_uncertainty_of(&g, &round_beam, &c, false);
        const struct fit_uncertainty floor = fit_uncertainty_of(&g, &round_beam, &white, false);
        assert_true(free.relative_peak > 0.31 * floor.relative_peak);
        assert_true(free.relative_total > 0.31 * floor.relative_total);
        assert_true(free.e_area > 0.31 * floor.e_area);
        assert_true(u.shape.major > 0 && u.shape.minor > 0 && u.shape.mixed > 0);
    }
}

/* A beam of 50 x 10 pixels that lies at 45 degrees has the errors of a round one. */
static void thin_beam(void **state) {
    const double major = 50 / 2.3548, minor = 10 / 2.3548, half = M_SQRT1_2;
    const double xx = half * half * (major * major + minor * minor);
    const double xy = half * half * (major * major - minor * minor);
    const struct tensor m = {xx, xx, xy};
    /* the frame: u = ux x + uy y, v = vy y, and u^2 + v^2 = 1 at the beam's sigma */
    const struct tensor form = tensor_inverse(&m);
    const double ux = sqrt(form.xx), uy = form.xy / ux;
    const struct fit_frame f = {ux, uy, sqrt(form.yy - uy * uy), true, FIT_SHAPES_CHOSEN};
    const struct gaussian g = {1, 0, 0, form};
    const struct correlation of_thin = correlation_of_beam(&f);
    (void)state;
    const struct fit_uncertainty u = fit_uncertainty_of(&g, &f, &of_thin, true);
    const struct gaussian round = lying(1, 1);
    const struct correlation of_round = correlation_of_beam(&round_beam);
    const struct fit_uncertainty e = fit_uncertainty_of(&round, &round_beam, &of_round, true);
    assert_true(fabs(u.relative_peak / e.relative_peak - 1) < 0.02);
    assert_true(fabs(u.relative_total / e.relative_total - 1) < 0.02);
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
    const struct correlation c = correlation_of_beam(&round_beam);
    const struct fit_uncertainty u = errors_at_ten(&g, &round_beam, &c, true);
    (void)state;
    assert_true(fabs(u.relative_peak - 0.1014) < 1e-4);
    assert_true(fabs(u.relative_total - 0.1014) < 1e-4);
    assert_true(fabs(sqrt(u.position.xx) / SIGMA - 0.1029) < 1e-4);
    assert_true(fabs(u.position.xy) < 1e-15);
}

/* A symmetric matrix after a change of coordinates: t m t^T. */
static struct tensor turned(const double *t, const struct tensor *m) {
    return (struct tensor){t[0] * t[0] * m->xx + 2 * t[0] * t[1] * m->xy + t[1] * t[1] * m->yy,
                           t[2] * t[2] * m->xx + 2 * t[2] * t[3] * m->xy + t[3] * t[3] * m->yy,
                           t[0] * t[2] * m->xx + (t[0] * t[3] + t[1] * t[2]) * m->xy +
                               t[1] * t[3] * m->yy};
}

/* Any beam and any source: in the frame the beam is round, and what is not about axes is the same
 * there; covariances are those of the frame, carried to pixels. */
static void fit_in_a_frame(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const struct fit_frame f = {0.1 + 0.2 * random_unit(&r), 0.2 * random_unit(&r) - 0.1,
                                    0.1 + 0.2 * random_unit(&r), true, FIT_SHAPES_CHOSEN};
        const double to_pixels[4] = {1 / f.ux, -f.uy / (f.ux * f.vy), 0, 1 / f.vy};
        const double to_round[4] = {SIGMA, 0, 0, SIGMA};
        const double a = 0.8 + 3 * random_unit(&r), b = 0.8 + 3 * random_unit(&r);
        const struct tensor in_frame = {a, b, (2 * random_unit(&r) - 1) * 0.6 * sqrt(a * b)};
        const struct tensor in_pixels = turned(to_pixels, &in_frame);
        const struct tensor in_round = turned(to_round, &in_frame);
        const struct gaussian there = {1, 0, 0, tensor_inverse(&in_round)};
        const struct gaussian here = {1, 0, 0, tensor_inverse(&in_pixels)};
        const struct correlation c_there = correlation_of_beam(&round_beam);
        const struct correlation c_here = correlation_of_beam(&f);
        const struct fit_uncertainty e = fit_uncertainty_of(&there, &round_beam, &c_there, false);
        const struct fit_uncertainty u = fit_uncertainty_of(&here, &f, &c_here, false);
        const double from_round[4] = {to_pixels[0] / SIGMA, to_pixels[1] / SIGMA, 0,
                                      to_pixels[3] / SIGMA};
        const struct tensor position = turned(from_round, &e.position);
        const double scale = position.xx + position.yy;
        assert_true(fabs(u.relative_peak / e.relative_peak - 1) < 1e-2);
        assert_true(fabs(u.relative_total / e.relative_total - 1) < 1e-2);
        assert_true(fabs(u.area / e.area - 1) < 1e-9 && fabs(u.e_area / e.e_area - 1) < 1e-2);
        assert_true(fabs(u.position.xx - position.xx) < 1e-2 * scale);
        assert_true(fabs(u.position.yy - position.yy) < 1e-2 * scale);
        assert_true(fabs(u.position.xy - position.xy) < 1e-2 * scale);
        assert_true(fabs(u.shape.major / e.shape.major - 1) < 2e-2);
        assert_true(fabs(u.shape.minor / e.shape.minor - 1) < 2e-2);
        assert_true(fabs(u.shape.mixed / e.shape.mixed - 1) < 2e-2);
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
        cmocka_unit_test(fit_of_beam),         cmocka_unit_test(fits_by_sums),
        cmocka_unit_test(fits_in_other_noise), cmocka_unit_test(fits_in_white_noise),
        cmocka_unit_test(fit_in_a_frame),      cmocka_unit_test(best_weights),
        cmocka_unit_test(least_errors),        cmocka_unit_test(thin_beam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
