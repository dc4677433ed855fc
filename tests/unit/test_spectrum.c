/* Spectral indices against exact power laws, and against a scan of all indices. */
#include "measure/spectrum.h"
#include "unit.h"

static struct spectrum fit(const struct spectrum_point *points, int64_t n) {
    struct spectrum s;
    assert_true(spectrum_fit(points, n, &s));
    return s;
}

static void assert_none(const struct spectrum_point *points, int64_t n) {
    struct spectrum s = {1, 2, 3};
    assert_false(spectrum_fit(points, n, &s));
    assert_true(isnan(s.index) && isnan(s.e_index) && isnan(s.flux));
}

static void assert_close(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* Points of a power law without noise, whose errors differ. */
static void fill(double flux, double index, double width, struct spectrum_point *points, int n) {
    for (int i = 0; i < n; i++) {
        const double x = width * (2.0 * i / (n - 1) - 1);
        const double value = flux * exp(index * x);
        points[i] = (struct spectrum_point){x, value, value / (10 + 7 * i)};
    }
}

/* The standard error of the index is that of a straight line through the logarithms, whose errors
 * are those of the fluxes over the fluxes. */
static void power_laws(void **state) {
    enum { N = 7 };
    struct spectrum_point points[N];
    (void)state;
    for (double index = -49.5; index < 50; index += 4.5) {
        fill(0.3, index, 0.2, points, N);
        double s = 0, sx = 0, xx = 0;
        for (int i = 0; i < N; i++) {
            const double weight = pow(points[i].flux / points[i].error, 2);
            s += weight;
            sx += weight * points[i].x;
            xx += weight * points[i].x * points[i].x;
        }
        const struct spectrum found = fit(points, N);
        assert_close(found.index, index, 1e-9);
        assert_close(found.flux, 0.3, 1e-10);
        assert_close(found.e_index, 1 / sqrt(xx - sx * sx / s), 1e-9);
    }
}

/* No source has a steeper spectrum than nu^50, up or down: such a fit is one of noise. */
static void steepest_index(void **state) {
    struct spectrum_point points[5];
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        fill(1, sign * 49.9, 0.1, points, 5);
        assert_close(fit(points, 5).index, sign * 49.9, 1e-6);
        fill(1, sign * 50.1, 0.1, points, 5);
        assert_none(points, 5);
        fill(1, sign * 5000, 0.001, points, 5);
        assert_none(points, 5);
    }
}

/* Two points of three times their error are enough; fainter ones do not begin a fit. */
static void least_signal(void **state) {
    struct spectrum_point points[] = {{-0.1, 3, 1}, {0.1, 6, 2}, {0.2, 2.9, 1}, {0.3, -1, 1}};
    (void)state;
    assert_close(fit(points, 2).index, log(2) / 0.2, 1e-9);
    assert_true(isfinite(fit(points, 4).index));
    points[0].flux = 2.99;
    assert_none(points, 2);
    assert_none(points, 4);
    assert_none(points + 1, 1);
    assert_none(points, 0);
}

/* Points of one frequency have no index, nor those that differ in what is rounded. */
static void one_frequency(void **state) {
    struct spectrum_point points[] = {{1, 10, 1}, {1, 20, 1}, {1, 30, 2}};
    (void)state;
    assert_none(points, 3);
    points[2].x = 1 + 1e-7;
    assert_none(points, 3);
    points[0].flux = points[2].flux = points[1].flux; /* so that it is not too steep either */
    assert_none(points, 3);
    points[2].flux = 30;
    points[2].x = 1.1;
    assert_close(fit(points + 1, 2).index, log(30.0 / 20) / 0.1, 1e-9);
}

/* What has no frequency, no flux or no error does not count. */
static void unusable_points(void **state) {
    enum { N = 5 };
    const struct spectrum_point bad[] = {{NAN, 1, 0.1},   {0.1, NAN, 0.1},     {0.1, 1, NAN},
                                         {0.1, 1, 0},     {0.1, 1, -0.1},      {INFINITY, 1, 0.1},
                                         {0.1, NAN, NAN}, {0.1, INFINITY, 0.1}};
    struct spectrum_point points[N + 1];
    (void)state;
    fill(2, -0.8, 0.5, points, N);
    points[1].flux *= 1.2;
    const struct spectrum expected = fit(points, N);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        points[N] = bad[i];
        const struct spectrum found = fit(points, N + 1);
        ASSERT_SAME(found, expected);
    }
}

/* --- against a scan --- */

static double even(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-53;
}

/* The least sum of squares of all power laws with an index; *flux is set to that of the best. */
static double squares_of(const struct spectrum_point *points, int n, double index, double *flux) {
    double model_model = 0, model_flux = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        const double model = exp(index * points[i].x) / points[i].error;
        model_model += model * model;
        model_flux += model * points[i].flux / points[i].error;
    }
    *flux = model_flux / model_model;
    for (int i = 0; i < n; i++)
        sum += pow((points[i].flux - *flux * exp(index * points[i].x)) / points[i].error, 2);
    return sum;
}

/* The index of the least sum of squares around one that is given: steps until none is better. */
static double refine(const struct spectrum_point *points, int n, double index) {
    double flux, best = squares_of(points, n, index, &flux);
    for (double step = 0.1; step > 1e-11;) {
        const double down = squares_of(points, n, index - step, &flux);
        const double up = squares_of(points, n, index + step, &flux);
        if (down < best || up < best) {
            index += down < up ? -step : step;
            best = fmin(down, up);
        } else {
            step /= 2;
        }
    }
    return index;
}

/* Spectra that the logarithms of bright points begin, and faint points, which may be many and
 * negative, turn: a whole step may then go too far. The fit ends where no index near is better, and
 * nearly always where no index at all is. */
static void noisy_spectra(void **state) {
    enum { N = 12, SPECTRA = 3000 / UNIT_FEWER };
    uint64_t random = 5;
    int n_fitted = 0, n_best = 0;
    (void)state;
    for (int k = 0; k < SPECTRA; k++) {
        struct spectrum_point points[N];
        struct spectrum found;
        for (int i = 0; i < N; i++) {
            const double noise = even(&random) + even(&random) + even(&random) - 1.5;
            const double error = i < 2 ? 0.3 : 0.02 + even(&random);
            points[i] = (struct spectrum_point){1.6 * even(&random) - 0.8, 0, error};
            points[i].flux = (i < 2 ? 1 : exp(-4 * points[i].x) / 8) + 2 * noise * error;
        }
        if (!spectrum_fit(points, N, &found))
            continue;
        double flux, best_flux;
        const double own = squares_of(points, N, found.index, &flux);
        const double index = refine(points, N, found.index);
        assert_close(found.index, index, 1e-5 * fmax(1, fabs(index)));
        assert_close(found.flux, flux, 1e-6 * flux);
        double best = own;
        for (double other = -50; other < 50; other += 0.25)
            best = fmin(best, squares_of(points, N, other, &best_flux));
        n_fitted++;
        n_best += own <= best * (1 + 1e-9);
    }
    print_message("%d of %d are fitted, %d as well as can be\n", n_fitted, SPECTRA, n_best);
    assert_true(n_best > 0.9 * n_fitted);
    if (UNIT_FEWER == 1) /* without halved steps 50 fewer converge */
        assert_true(n_fitted > 0.8 * SPECTRA);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_laws),      cmocka_unit_test(steepest_index),
        cmocka_unit_test(least_signal),    cmocka_unit_test(one_frequency),
        cmocka_unit_test(unusable_points), cmocka_unit_test(noisy_spectra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
