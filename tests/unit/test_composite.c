/* Sources of several Gaussians: moments and highest value of their sum beside those on a fine grid,
 * and errors beside the closed form of one Gaussian, which must hold for a sum of one, and for the
 * sum of two that do not touch. */
#include <stdlib.h>

#include "measure/composite.h"
#include "measure/fit_uncertainty.h"
#include "unit.h"

enum { SIDE = 61, MOST = 6 };

/* An island of one part, whose pixels are a square, and Gaussians that were fitted to it. */
struct scene {
    struct fit_frame frame;
    struct island_fit fit;
    struct fit_part part;
    struct fit_pixel pixels[SIDE * SIDE];
    int32_t order[SIDE * SIDE];
    struct fit_job job;
    struct fitted_source sources[MOST];
    struct fitted_sources fitted;
    struct gaussian gaussians[MOST];
    struct model model;
};

static void scene_make(struct scene *s, double ux, double uy, double vy) {
    *s = (struct scene){.frame = {ux, uy, vy, true}, .part = {0, 0, 0, SIDE * SIDE, 0}};
    for (int32_t i = 0; i < SIDE * SIDE; i++) {
        s->pixels[i] = (struct fit_pixel){0, i % SIDE, i / SIDE};
        s->order[i] = i;
    }
    s->fit = (struct island_fit){.x = 100,
                                 .y = 200,
                                 .rms = 0.25,
                                 .pixels = s->pixels,
                                 .n_inside = SIDE * SIDE,
                                 .n_pixels = SIDE * SIDE,
                                 .parts = {.part = &s->part, .n = 1, .order = s->order}};
    s->fitted.source = s->sources;
}

/* Adds a Gaussian at a pixel; widths in beam sigmas. */
static void scene_add(struct scene *s, double peak, double x, double y, double width_u,
                      double width_v, double lean, bool is_free) {
    const int k = s->job.set.n++;
    const double c[FIT_PARAMETERS] = {peak,
                                      s->frame.ux * x + s->frame.uy * y,
                                      s->frame.vy * y,
                                      1 / (width_u * width_u),
                                      lean,
                                      1 / (width_v * width_v)};
    memcpy(s->job.set.value[k], c, sizeof c);
    s->job.set.is_free[k] = is_free;
    s->gaussians[k] = gaussian_of_fit(&s->frame, c, s->fit.rms, s->fit.x, s->fit.y);
    s->sources[k] = (struct fitted_source){.is_fitted = true,
                                           .has_beam_shape = !is_free,
                                           .gaussian = s->gaussians[k],
                                           .peak = s->gaussians[k].peak,
                                           .in_set = k};
    s->fitted.n = k + 1;
}

static struct composite scene_measure(struct scene *s, const int32_t *members, int64_t n) {
    const struct model_box box = {s->fit.x, s->fit.y, SIDE, SIDE, 16};
    struct composite c;
    assert_true(model_make(&s->model, s->gaussians, s->fitted.n, &box));
    const struct correlation noise = correlation_of_beam(&s->frame);
    assert_true(composite_measure(&s->fit, &s->frame, &noise, &s->job, &s->fitted, &s->model,
                                  members, n, &c));
    model_clear(&s->model);
    return c;
}

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%g is not %g to %g", value, expected, tolerance);
}

/* --- moments --- */

/* The sums of the members on a grid of a quarter of a pixel. */
static void check_moments(const struct scene *s, const int32_t *members, int64_t n,
                          const struct composite *c) {
    double sum = 0, sum_x = 0, sum_y = 0, xx = 0, yy = 0, xy = 0, highest = 0;
    for (int pass = 0; pass < 2; pass++) {
        const double x0 = sum > 0 ? sum_x / sum : 0, y0 = sum > 0 ? sum_y / sum : 0;
        for (int i = -400; i < 640; i++) {
            for (int j = -400; j < 640; j++) {
                const double x = s->fit.x + i / 4.0, y = s->fit.y + j / 4.0;
                double value = 0;
                for (int64_t k = 0; k < n; k++)
                    value += gaussian_at(&s->gaussians[members[k]], x, y);
                sum += pass == 0 ? value : 0;
                sum_x += pass == 0 ? value * x : 0;
                sum_y += pass == 0 ? value * y : 0;
                xx += pass * value * (x - x0) * (x - x0);
                yy += pass * value * (y - y0) * (y - y0);
                xy += pass * value * (x - x0) * (y - y0);
                highest = fmax(highest, value);
            }
        }
    }
    assert_near(c->total, sum / 16, 1e-5 * sum / 16);
    assert_near(c->x, sum_x / sum, 1e-4);
    assert_near(c->y, sum_y / sum, 1e-4);
    assert_near(c->second.xx, xx / sum, 1e-3 * xx / sum);
    assert_near(c->second.yy, yy / sum, 1e-3 * yy / sum);
    assert_near(c->second.xy, xy / sum, 1e-3 * sqrt(xx * yy) / sum);
    assert_true(c->peak >= highest);
    assert_near(c->peak, highest, 0.01 * highest);
}

static void moments(void **state) {
    static struct scene s;
    struct random r = {5};
    (void)state;
    for (int trial = 0; trial < 6; trial++) {
        const int n = 2 + trial % 3;
        const int32_t members[] = {0, 1, 2, 3};
        scene_make(&s, 0.5, 0.1, 0.45);
        for (int k = 0; k < n; k++)
            scene_add(&s, 20 + 80 * random_unit(&r), 27 + 7 * random_unit(&r),
                      27 + 7 * random_unit(&r), 1 + random_unit(&r), 1 + random_unit(&r),
                      0.2 * random_unit(&r), true);
        const struct composite c = scene_measure(&s, members, n);
        check_moments(&s, members, n, &c);
    }
}

/* Two equal points: the sum is highest between them where they are near to each other, and at one
 * of them where they are not. */
static void highest(void **state) {
    static struct scene s;
    const int32_t members[] = {0, 1};
    (void)state;
    for (int apart = 2; apart < 12; apart += 4) {
        scene_make(&s, 0.5, 0, 0.5);
        scene_add(&s, 100, 20, 20, 1, 1, 0, false);
        scene_add(&s, 100, 20 + apart, 20, 1, 1, 0, false);
        const struct composite c = scene_measure(&s, members, 2);
        const double x = c.x_highest - s.fit.x;
        assert_true(apart == 2 ? x > 20.9 && x < 21.1 : x < 21.5 || x > 18.5 + apart);
        assert_true(c.peak < 1.8 * 100 * s.fit.rms);
    }
}

/* A brighter source beside them, to which Newton's steps lead, is not theirs. */
static void highest_of_a_neighbour(void **state) {
    static struct scene s;
    const int32_t members[] = {0, 1};
    (void)state;
    scene_make(&s, 0.5, 0, 0.5);
    scene_add(&s, 10, 20, 30, 1, 1, 0, false);
    scene_add(&s, 0.01, 20, 31, 1, 1, 0, false);
    scene_add(&s, 470.56, 20 + 2 * 4.683675761, 30, 1.39903, 1.39903, 0, true);
    const struct composite c = scene_measure(&s, members, 2);
    assert_near(c.x_highest - s.fit.x, 20, 2.4);
    assert_near(c.peak, 10 * s.fit.rms, 6 * s.fit.rms);
}

/* --- errors --- */

static void check_one(double peak, double width_u, double width_v, double lean, bool is_free) {
    static struct scene s;
    const int32_t members[] = {0};
    scene_make(&s, 0.35, 0.06, 0.4);
    scene_add(&s, peak, 30.2, 29.7, width_u, width_v, lean, is_free);
    const struct composite c = scene_measure(&s, members, 1);
    const struct correlation noise = correlation_of_beam(&s.frame);
    const struct fit_uncertainty of_one =
        fit_uncertainty_of(&s.gaussians[0], &s.frame, &noise, !is_free);
    const struct fit_uncertainty u = fit_uncertainty_at(&of_one, s.gaussians[0].peak);
    assert_near(c.error.total / c.total, u.relative_total, 0.02 * u.relative_total);
    assert_near(c.error.peak / c.peak, u.relative_peak, 0.02 * u.relative_peak);
    assert_near(c.error.position.xx, u.position.xx, 0.03 * u.position.xx);
    assert_near(c.error.position.yy, u.position.yy, 0.03 * u.position.yy);
    assert_near(c.error.position.xy, u.position.xy, 0.03 * sqrt(u.position.xx * u.position.yy));
    /* the moment along x, from those along the axes */
    const double a = u.shape.to_pixels[0], b = u.shape.to_pixels[1];
    const double xx = pow(a, 4) * u.shape.major + pow(b, 4) * u.shape.minor +
                      2 * a * a * b * b * u.shape.covariance + 4 * a * a * b * b * u.shape.mixed;
    assert_near(c.error.shape[0][0], xx, 0.03 * xx);
}

/* The closed form is that of the fit of the core, with exponents of widths from 1 on. */
static void errors_of_one(void **state) {
    (void)state;
    check_one(20, 1, 1, 0, true);
    check_one(100, 1.5, 1.2, 0, true);
    check_one(50, 2, 2, 0.05, true);
    check_one(20, 1, 1, 0, false);
}

/* The variances of second moments: M = f (1 - f) d^2 + f A + (1 - f) B, with the share f of the
 * first flux, the distance d, and the moments A and B of both. */
static void check_second(const struct composite *a, const struct composite *b,
                         const struct composite *both) {
    const double f = a->total / both->total, g = 1 - f;
    const double of_share =
        (g * a->error.total * g * a->error.total + f * b->error.total * f * b->error.total) /
        (both->total * both->total);
    const double dx = a->x - b->x, dy = a->y - b->y;
    const double by_share[] = {(g - f) * dx * dx + a->second.xx - b->second.xx,
                               (g - f) * dy * dy + a->second.yy - b->second.yy};
    const double by_distance[] = {2 * f * g * dx, 2 * f * g * dy};
    const double of_distance[] = {a->error.position.xx + b->error.position.xx,
                                  a->error.position.yy + b->error.position.yy};
    for (int i = 0; i < 2; i++) {
        const double variance = by_share[i] * by_share[i] * of_share +
                                by_distance[i] * by_distance[i] * of_distance[i] +
                                f * f * a->error.shape[i][i] + g * g * b->error.shape[i][i];
        assert_near(both->error.shape[i][i], variance, 0.05 * variance);
    }
    const double mixed = (g - f) * dx * dy + a->second.xy - b->second.xy;
    const double of_ends = f * g * f * g *
                           (dy * dy * of_distance[0] + dx * dx * of_distance[1] +
                            2 * dx * dy * (a->error.position.xy + b->error.position.xy));
    const double variance = mixed * mixed * of_share + of_ends + f * f * a->error.shape[2][2] +
                            g * g * b->error.shape[2][2];
    assert_near(both->error.shape[2][2], variance, 0.05 * variance);
}

/* Across the line of two points the moment has the errors that free shapes would have had. */
static void errors_of_points(void **state) {
    static struct scene s;
    const int32_t members[] = {0, 1};
    (void)state;
    scene_make(&s, 0.5, 0, 0.5);
    scene_add(&s, 60, 28, 30, 1, 1, 0, false);
    scene_add(&s, 20, 32, 30, 1, 1, 0, false);
    const struct composite c = scene_measure(&s, members, 2);
    double across = 0;
    for (int k = 0; k < 2; k++) {
        const struct gaussian *g = &s.gaussians[k];
        const struct correlation noise = correlation_of_beam(&s.frame);
        const struct fit_uncertainty of_one = fit_uncertainty_of(g, &s.frame, &noise, true);
        const double variance = fit_uncertainty_at(&of_one, g->peak).shape.minor;
        across += pow(g->peak / (80 * s.fit.rms), 2) * variance * pow(2, 4); /* in pixels */
    }
    assert_near(c.error.shape[1][1], across, 1e-3 * across);
}

/* Those of two that are apart are independent: squares add up; flux pulls the centre. */
static void errors_of_two(void **state) {
    static struct scene s;
    const int32_t members[] = {0, 1}, first[] = {0}, second[] = {1};
    (void)state;
    scene_make(&s, 0.5, 0.1, 0.45);
    scene_add(&s, 100, 15, 15, 1, 1, 0, true);
    scene_add(&s, 40, 45, 45, 1.3, 1.1, 0, true);
    const struct composite both = scene_measure(&s, members, 2);
    const struct composite a = scene_measure(&s, first, 1), b = scene_measure(&s, second, 1);
    const double total = sqrt(a.error.total * a.error.total + b.error.total * b.error.total);
    assert_near(both.error.total, total, 1e-3 * total);
    const double share = a.total / (a.total + b.total), dx = a.x - b.x;
    const double of_share = ((1 - share) * a.error.total * (1 - share) * a.error.total +
                             share * b.error.total * share * b.error.total) /
                            (both.total * both.total);
    const double xx = share * share * a.error.position.xx +
                      (1 - share) * (1 - share) * b.error.position.xx + dx * dx * of_share;
    assert_near(both.error.position.xx, xx, 0.02 * xx);
    check_second(&a, &b, &both);
}

/* Two that are nearly the same have a sum whose error is that of one. */
static void errors_of_the_same(void **state) {
    static struct scene s, one;
    const int32_t members[] = {0, 1};
    (void)state;
    scene_make(&one, 0.5, 0, 0.5);
    scene_add(&one, 60, 30, 30, 1, 1, 0, false);
    scene_make(&s, 0.5, 0, 0.5);
    scene_add(&s, 30, 30, 30, 1, 1, 0, false);
    scene_add(&s, 30, 30.001, 30, 1, 1, 0, false);
    const struct composite a = scene_measure(&one, members, 1);
    const struct composite b = scene_measure(&s, members, 2);
    assert_near(b.total, a.total, 1e-3 * a.total);
    assert_true(b.error.total > 0.9 * a.error.total && b.error.total < 3 * a.error.total);
    assert_true(b.error.peak > 0.9 * a.error.peak && b.error.peak < 3 * a.error.peak);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments),
        cmocka_unit_test(highest),
        cmocka_unit_test(highest_of_a_neighbour),
        cmocka_unit_test(errors_of_one),
        cmocka_unit_test(errors_of_points),
        cmocka_unit_test(errors_of_two),
        cmocka_unit_test(errors_of_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
