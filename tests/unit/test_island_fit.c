/* The sources of an island are fitted in groups, whose work is bounded: the more sources, the
 * smaller the groups and the fewer the iterations. Groups that touch are not fitted at the same
 * time, so that no seam between them is left out, or counted twice. */
#include <stdlib.h>

#include "cpu/fit.h"
#include "measure/sweeps.h"
#include "unit.h"

/* A strip of pixels with n peaks. */
struct strip {
    struct island_pixels own;
    float *value;
    double *background, *rms; /* of its pixels */
    struct deblended deblended;
};

static struct strip strip_make(int n, int apart, int height) {
    const int64_t n_pixels = (int64_t)n * apart * height;
    struct strip s = {
        .value = calloc((size_t)n_pixels, sizeof *s.value),
        .background = calloc((size_t)n_pixels, sizeof *s.background),
        .rms = calloc((size_t)n_pixels, sizeof *s.rms),
        .own = {.x = calloc((size_t)n_pixels, sizeof *s.own.x),
                .y = calloc((size_t)n_pixels, sizeof *s.own.y),
                .n = n_pixels},
        .deblended = {.peak = calloc((size_t)n, sizeof *s.deblended.peak),
                      .source_of = calloc((size_t)n_pixels, sizeof *s.deblended.source_of),
                      .snr = calloc((size_t)n, sizeof *s.deblended.snr),
                      .island_snr = 2.0 * n,
                      .n = n}};
    s.own.value = s.value;
    s.own.background = s.background;
    s.own.rms = s.rms;
    for (int64_t i = 0; i < n_pixels; i++) {
        s.own.x[i] = (int32_t)(i % (n * apart));
        s.own.y[i] = (int32_t)(i / (n * apart));
        s.value[i] = 10;
        s.rms[i] = 1;
        s.deblended.source_of[i] = s.own.x[i] / apart;
    }
    for (int i = 0; i < n; i++)
        s.deblended.snr[i] = n + i;
    for (int i = 0; i < n; i++)
        s.deblended.peak[i] = height / 2 * n * apart + i * apart + apart / 2;
    return s;
}

static void strip_free(struct strip *s) {
    free(s->own.x);
    free(s->own.y);
    free(s->value);
    free(s->background);
    free(s->rms);
    free(s->deblended.peak);
    free(s->deblended.source_of);
    free(s->deblended.snr);
}

/* Each of n deblended sources gives its Pix_SNR to one source, and the island's goes to those that
 * were added; returns their number. */
static int check_snr(const struct fitted_sources *fitted, int n) {
    int n_added = 0;
    int *const times = calloc((size_t)n, sizeof *times);
    for (int64_t k = 0; k < fitted->n; k++) {
        const int which = (int)fitted->source[k].pix_snr - n;
        n_added += which == n;
        if (which < n)
            times[which]++;
    }
    for (int i = 0; i < n; i++)
        assert_int_equal(times[i], 1);
    assert_int_equal(fitted->n, n + n_added);
    free(times);
    return n_added;
}

/* Each pixel and each source is in one job, and jobs are no larger than `group`. */
static void check(int n, int apart, int group, int rounds) {
    struct strip s = strip_make(n, apart, 3);
    const struct margin none = {0};
    const struct margin_pixels margin = {.margin = &none};
    const struct fit_frame frame = {1, 0, 1, true, FIT_SHAPES_CHOSEN};
    struct arena arena = {0};
    struct island_fit fit;
    int64_t n_sources = 0, n_pixels = 0;
    assert_true(island_fit_make(&fit, &s.own, &s.deblended, &margin, 3, &arena));
    struct fit_job *jobs = calloc((size_t)fit.parts.n, sizeof *jobs);
    struct fit_pixel *pixels = calloc((size_t)fit.n_pixels, sizeof *pixels);
    island_fit_make_jobs(&fit, &frame, 0, pixels, jobs);
    for (int64_t k = 0; k < fit.parts.n; k++) {
        assert_in_range(jobs[k].set.n, 1, group);
        assert_int_equal(jobs[k].limits.rounds, rounds);
        assert_int_equal(jobs[k].only_free, fit.parts.n > 1);
        assert_int_equal(jobs[k].first, n_pixels);
        n_sources += jobs[k].set.n;
        n_pixels += jobs[k].n_pixels;
    }
    assert_int_equal(n_sources, n);
    assert_int_equal(n_pixels, s.own.n);
    free(jobs);
    free(pixels);
    arena_clear(&arena);
    strip_free(&s);
}

/* Whether two parts have pixels beside each other. */
static bool touch(const struct island_fit *fit, int64_t a, int64_t b) {
    for (int64_t i = 0; i < fit->n_inside; i++)
        for (int64_t j = 0; j < fit->n_inside; j++)
            if (fit->parts.part_of[i] == a && fit->parts.part_of[j] == b &&
                abs(fit->pixels[i].x - fit->pixels[j].x) +
                        abs(fit->pixels[i].y - fit->pixels[j].y) ==
                    1)
                return true;
    return false;
}

static enum srcfind_status fit_jobs(void *context, const struct fit_pixel *pixels,
                                    struct fit_job *jobs, int64_t n, struct threads *threads,
                                    struct error *error) {
    *(int64_t *)context += n;
    return cpu_fit(pixels, jobs, n, threads, error);
}

/* A bar, which its peaks do not describe: its pixels are fitted as well at the seams between groups
 * as elsewhere. */
static void seams(void **state) {
    enum { PEAKS = 40, APART = 6, HEIGHT = 15 };
    struct strip s = strip_make(PEAKS, APART, HEIGHT);
    const struct margin none = {0};
    const struct margin_pixels margin = {.margin = &none};
    const struct fit_frame frame = {0.5, 0, 0.5, true,
                                    FIT_SHAPES_CHOSEN}; /* a beam of 4.7 pixels */
    const struct noise_areas noise = {25, 12.5};
    struct arena arena = {0};
    struct island_fit fit;
    struct fitted_sources fitted;
    struct error error;
    int64_t n_fits = 0;
    const struct fitter fitter = {fit_jobs, &n_fits};
    (void)state;
    for (int64_t i = 0; i < s.own.n; i++)
        s.value[i] = (float)((100 + 2 * cos(2 * M_PI * (s.own.x[i] - APART / 2.0) / APART)) *
                             exp(-pow(s.own.y[i] - HEIGHT / 2, 2) / 10));
    assert_true(island_fit_make(&fit, &s.own, &s.deblended, &margin, 3, &arena));
    assert_int_equal(fit.parts.n_colours, 2);
    for (int64_t k = 0; k < fit.parts.n; k++)
        for (int64_t i = 0; i < k; i++)
            assert_true(fit.parts.part[i].colour != fit.parts.part[k].colour || !touch(&fit, i, k));
    struct fit_job *jobs = calloc((size_t)fit.parts.n, sizeof *jobs);
    struct fit_pixel *pixels = calloc((size_t)fit.n_pixels, sizeof *pixels);
    island_fit_make_jobs(&fit, &frame, 0, pixels, jobs);
    const struct grouped_island island = {&fit, jobs};
    assert_int_equal(sweeps_run(&island, 1, pixels, &fitter, NULL, &error), SRCFIND_OK);
    assert_in_range(n_fits, 2 * fit.parts.n + 1, 4 * fit.parts.n); /* some see no change */
    assert_true(island_fit_finish(&fit, &frame, &noise, jobs, &arena, &fitted));
    print_message("%d parts leave %g of 100; %d sources were added\n", (int)fit.parts.n,
                  fitted.residual_rms, check_snr(&fitted, PEAKS));
    assert_true(fitted.residual_rms < 1);
    free(jobs);
    free(pixels);
    arena_clear(&arena);
    strip_free(&s);
}

/* A source without a component keeps its pixels, as a row, only where the Gaussians of others have
 * less than half of their flux: else the row would count it twice. */
static void held(void **state) {
    enum { PEAKS = 16, APART = 6, HEIGHT = 9 };
    static const struct {
        float value; /* of the strip's pixels */
        double peak; /* of a Gaussian that is much wider; 0: there is none */
        int n_rows;
    } cases[] = {{10, 4.9, 1 + PEAKS}, {10, 5.2, 1},       {10, 10, 1},      {10, 0, PEAKS},
                 {-10, 0, PEAKS},      {-3, 1, 1 + PEAKS}, {0, 1, 1 + PEAKS}};
    const struct fit_frame frame = {1, 0, 1, true, FIT_SHAPES_CHOSEN};
    const struct noise_areas noise = {6.3, 3.1};
    const struct margin none = {0};
    const struct margin_pixels margin = {.margin = &none};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strip s = strip_make(PEAKS, APART, HEIGHT);
        for (int64_t k = 0; k < s.own.n; k++)
            s.value[k] = cases[i].value;
        struct arena arena = {0};
        struct island_fit fit;
        struct fitted_sources fitted;
        assert_true(island_fit_make(&fit, &s.own, &s.deblended, &margin, 3, &arena));
        assert_int_equal(fit.parts.n, 2);
        struct fit_job jobs[2] = {{.is_fitted = false}, {.is_fitted = cases[i].peak > 0}};
        const double c[FIT_PARAMETERS] = {cases[i].peak, 0, 0, 1e-8, 0, 1e-8};
        memcpy(jobs[1].set.value[0], c, sizeof c);
        jobs[1].set.n = 1;
        jobs[1].set.source[0] = -1;
        assert_true(island_fit_finish(&fit, &frame, &noise, jobs, &arena, &fitted));
        assert_int_equal(fitted.n, cases[i].n_rows);
        for (int64_t k = 0; k < s.own.n; k++)
            assert_in_range(fitted.source_of[k], 0, fitted.n - 1);
        if (fitted.n == 1)
            assert_true(fitted.source[0].is_fitted);
        arena_clear(&arena);
        strip_free(&s);
    }
}

/* --- orientation --- */

enum { SIDE = 48, CROWDED = 21 };

/* Where (x, y) of an image is in one that is mirrored in x (1), in y (2), and transposed (4). */
static void turn(int how, int *x, int *y) {
    const int kept = *x;
    *x = how & 1 ? SIDE - 1 - *x : *x;
    *y = how & 2 ? SIDE - 1 - *y : *y;
    if (how & 4) {
        const int turned_x = how & 1 ? SIDE - 1 - kept : kept;
        *x = *y;
        *y = turned_x;
    }
}

/* Crowded Gaussians, each of which is a source; one fit that is turned. */
struct crowd {
    struct strip s;
    struct island_fit fit;
    struct fit_job *jobs;
    struct fit_pixel *pixels;
    struct arena arena;
};

/* Fits the crowd of a seed. The pixels of strip_make become a square; peaks are in falling order.
 */
static void crowd_fit(struct crowd *c, uint64_t seed, int how) {
    const struct fit_frame frame = {0.6, 0, 0.6, true, FIT_SHAPES_CHOSEN};
    const struct margin none = {0};
    const struct margin_pixels margin = {.margin = &none};
    struct random r = {seed};
    struct error error;
    int64_t n_fits = 0;
    const struct fitter fitter = {fit_jobs, &n_fits};
    c->s = strip_make(SIDE, 1, SIDE);
    c->s.deblended.n = CROWDED;
    for (int i = 0; i < SIDE * SIDE; i++)
        c->s.value[i] = 0;
    for (int k = 0; k < CROWDED; k++) {
        int px = 4 + (int)random_below(&r, SIDE - 8), py = 4 + (int)random_below(&r, SIDE - 8);
        const double peak = 200 - 6 * k, width = 1.5 + (double)random_below(&r, 1000) / 500;
        turn(how, &px, &py);
        c->s.deblended.peak[k] = py * SIDE + px;
        for (int i = 0; i < SIDE * SIDE; i++) {
            const double dx = c->s.own.x[i] - px, dy = c->s.own.y[i] - py;
            c->s.value[i] += (float)(peak * exp(-(dx * dx + dy * dy) / (2 * width * width)));
        }
    }
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            int to_x = x, to_y = y;
            turn(how, &to_x, &to_y);
            c->s.value[to_y * SIDE + to_x] += (float)random_below(&r, 1000) / 500;
        }
    }
    assert_true(island_fit_make(&c->fit, &c->s.own, &c->s.deblended, &margin, 3, &c->arena));
    c->jobs = calloc((size_t)c->fit.parts.n, sizeof *c->jobs);
    c->pixels = calloc((size_t)c->fit.n_pixels, sizeof *c->pixels);
    island_fit_make_jobs(&c->fit, &frame, 0, c->pixels, c->jobs);
    const struct grouped_island island = {&c->fit, c->jobs};
    assert_int_equal(sweeps_run(&island, 1, c->pixels, &fitter, NULL, &error), SRCFIND_OK);
}

static void crowd_free(struct crowd *c) {
    free(c->jobs);
    free(c->pixels);
    arena_clear(&c->arena);
    strip_free(&c->s);
}

/* An image that is turned is divided into the same parts, with the same results. */
static void orientations(void **state) {
    int n_parts = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct crowd first = {0};
        crowd_fit(&first, seed, 0);
        n_parts += (int)first.fit.parts.n;
        for (int how = 1; how < 8; how++) {
            struct crowd turned = {0};
            crowd_fit(&turned, seed, how);
            assert_int_equal(turned.fit.parts.n, first.fit.parts.n);
            for (int64_t k = 0; k < first.fit.parts.n; k++) {
                const struct fit_part *a = &first.fit.parts.part[k], *b = &turned.fit.parts.part[k];
                assert_int_equal(a->n_sources, b->n_sources);
                assert_int_equal(a->n_pixels, b->n_pixels);
                assert_int_equal(a->colour, b->colour);
                assert_memory_equal(first.fit.parts.sources + a->first_source,
                                    turned.fit.parts.sources + b->first_source,
                                    (size_t)a->n_sources * sizeof *first.fit.parts.sources);
                assert_int_equal(first.jobs[k].set.n, turned.jobs[k].set.n);
                for (int i = 0; i < first.jobs[k].set.n; i++)
                    assert_true(fabs(turned.jobs[k].set.value[i][FIT_PEAK] /
                                         first.jobs[k].set.value[i][FIT_PEAK] -
                                     1) < 1e-3);
            }
            crowd_free(&turned);
        }
        crowd_free(&first);
    }
    assert_true(n_parts >= 8 * 3);
}

static void groups(void **state) {
    (void)state;
    for (int n = 1; n <= 8; n++)
        check(n, n, 8, 50);
    for (int n = 9; n < 300; n++) {
        check(n, 3, n <= 128 ? 8 : 4, n <= 128 ? 12 : 3);
        check(n, 2, 4, 3); /* six pixels a source */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups),
        cmocka_unit_test(seams),
        cmocka_unit_test(held),
        cmocka_unit_test(orientations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
