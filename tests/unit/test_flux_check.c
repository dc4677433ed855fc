/* No fit makes flux out of nothing: which islands are fitted again, where the second fit starts,
 * and what it gives on sources that are no Gaussians. */
#include <stdlib.h>

#include "cpu/fit.h"
#include "measure/flux_check.h"
#include "measure/sweeps.h"
#include "unit.h"

enum { SIDE = 130, MOST = SIDE * SIDE };

static const struct fit_frame FRAME = {
    .ux = 0.471, .vy = 0.471, .has_beam = true};     /* a beam of 5 pixels */
static const struct flux_check CHECK = {5, 3, 28.3}; /* and its area */

/* --- shapes --- */

static double ring(double x, double y) {
    return fabs(hypot(x, y) - 16) < 3;
}

static double arc(double x, double y) {
    return fabs(hypot(x, y) - 30) < 3 && y > -x;
}

static double jet(double x, double y) {
    return fabs(x) < 50 && fabs(y + x / 3) < 3 ? 1 - fabs(x) / 80 : 0;
}

static double disc(double x, double y) {
    return hypot(x, y) < 20;
}

static double exponential(double x, double y) {
    return 2 * exp(-hypot(x, y) / 18);
}

static double bubble(double x, double y) {
    const bool is_hole = hypot(x - 20, y) < 15 || hypot(x + 25, y - 20) < 9;
    return hypot(x, y) < 60 && !is_hole ? 0.5 + (hypot(x, y) > 50) : 0;
}

static const struct shape {
    const char *name;
    double (*at)(double x, double y);
} SHAPES[] = {
    {"ring", ring},    {"arc", arc}, {"jet", jet}, {"disc", disc}, {"exponential", exponential},
    {"bubble", bubble}};

enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES };

/* A shape that the beam has smoothed. */
static double smooth(const struct shape *shape, double x, double y) {
    enum { REACH = 6 };
    double sum = 0, weights = 0;
    for (int dy = -REACH; dy <= REACH; dy++) {
        for (int dx = -REACH; dx <= REACH; dx++) {
            const double u = FRAME.ux * dx, v = FRAME.vy * dy, weight = exp(-(u * u + v * v) / 2);
            sum += weight * shape->at(x + dx, y + dy);
            weights += weight;
        }
    }
    return sum / weights;
}

/* An island of the pixels above 3, and a margin of the pixels within two of them. */
struct scene {
    struct island_pixels own;
    int32_t x[MOST], y[MOST], source_of[MOST], peak[1];
    float value[MOST], beside[MOST]; /* beside: of the margin */
    double background[MOST], rms[MOST], snr[1];
    struct run runs[MOST];
    struct margin margin;
    struct deblended deblended;
    struct island_fit fit;
    struct arena arena;
};

static void add_own(struct scene *s, int x, int y, double value) {
    const int64_t n = s->own.n++;
    s->x[n] = x;
    s->y[n] = y;
    s->value[n] = (float)value;
    s->peak[0] = value > s->value[s->peak[0]] ? (int32_t)n : s->peak[0];
}

static void add_beside(struct scene *s, int x, int y, double value) {
    const int64_t n = s->margin.n_runs++;
    s->runs[n] = (struct run){y, x, x};
    s->beside[n] = (float)value;
    s->margin.n_pixels++;
}

static bool make_fit(struct scene *s, const struct deblended *start, struct island_fit *fit) {
    const struct run_pixels beside = {
        .value = s->beside, .background = s->background, .rms = s->rms};
    const struct margin_pixels margin = {&s->margin, &beside, &beside, 0};
    return island_fit_make(fit, &s->own, start, &margin, CHECK.island, &s->arena);
}

/* ripple: a pattern that has the place of noise. */
static struct scene *scene_make(const struct shape *shape, double height, double ripple) {
    struct scene *s = calloc(1, sizeof *s);
    double(*image)[SIDE] = calloc(SIDE, sizeof *image);
    s->own = (struct island_pixels){0, s->x, s->y, s->value, s->background, s->rms};
    for (int y = 2; y < SIDE - 2; y++)
        for (int x = 2; x < SIDE - 2; x++)
            image[y][x] = smooth(shape, x - SIDE / 2, y - SIDE / 2) * height +
                          ripple * sin(x * 0.7) * cos(y * 0.9);
    for (int y = 2; y < SIDE - 2; y++) {
        for (int x = 2; x < SIDE - 2; x++) {
            bool is_near = false;
            for (int k = 0; k < 25; k++)
                is_near = is_near || image[y - 2 + k / 5][x - 2 + k % 5] > 3;
            if (image[y][x] > 3)
                add_own(s, x, y, image[y][x]);
            else if (is_near)
                add_beside(s, x, y, image[y][x]);
        }
    }
    for (int i = 0; i < MOST; i++)
        s->rms[i] = 1;
    s->margin.runs = s->runs;
    s->deblended =
        (struct deblended){.source_of = s->source_of, .peak = s->peak, .n = 1, .snr = s->snr};
    s->snr[0] = s->deblended.island_snr = s->value[s->peak[0]];
    assert_true(make_fit(s, &s->deblended, &s->fit));
    free(image);
    return s;
}

static void scene_free(struct scene *s) {
    arena_clear(&s->arena);
    free(s);
}

static double flux_of(const struct scene *s) {
    double sum = 0;
    for (int64_t i = 0; i < s->own.n; i++)
        sum += s->value[i];
    return sum;
}

/* A job with one component of this flux, in the middle. */
static struct fit_job job_of(double flux, double width, int32_t source, const struct scene *s) {
    const double form = 1 / (width * width), area = 2 * M_PI / (FRAME.ux * FRAME.vy);
    const double x = SIDE / 2 - s->fit.x, y = SIDE / 2 - s->fit.y;
    const double c[FIT_PARAMETERS] = {
        flux / (area * width * width), FRAME.ux * x, FRAME.vy * y, form, 0, form};
    struct fit_job job = {.is_fitted = true,
                          .set = {.n = 1, .is_free = {true}, .source = {source}}};
    memcpy(job.set.value[0], c, sizeof c);
    return job;
}

/* --- the check --- */

/* 1.5 times the flux, corrected for what lies below the threshold, are too much. */
static void too_much(void **state) {
    struct scene *s = scene_make(&SHAPES[0], 10, 0);
    const double most = 1.5 * flux_of(s) / (1 - CHECK.island / s->value[s->peak[0]]);
    const struct flux_check equal = {3, 3, CHECK.correlated};
    const struct fit_job less = job_of(most * 0.999, 4, 0, s);
    struct fit_job more = job_of(most * 1.001, 4, 0, s);
    (void)state;
    assert_true(flux_check_holds(&CHECK, &s->fit, &FRAME, &less));
    assert_false(flux_check_holds(&CHECK, &s->fit, &FRAME, &more));
    assert_true(flux_check_holds(&equal, &s->fit, &FRAME, &more));
    more.is_fitted = false;
    assert_true(flux_check_holds(&CHECK, &s->fit, &FRAME, &more));
    s->deblended.island_snr *= 2; /* less lies below the threshold where the island was found */
    assert_false(flux_check_holds(&CHECK, &s->fit, &FRAME, &less));
    scene_free(s);
}

/* An island of n pixels of 4, in noise that is correlated over 28.3: 4 n are ten errors or more
 * from 177 pixels on. */
static void faint(void **state) {
    const int n_pixels[] = {176, 177};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct scene *s = scene_make(&SHAPES[3], 4, 0);
        for (int64_t i = 0; i < s->fit.n_inside; i++)
            s->fit.pixels[i].value = 4;
        s->fit.n_inside = n_pixels[k];
        const struct fit_job job = job_of(1e6, 20, 0, s);
        assert_int_equal(flux_check_holds(&CHECK, &s->fit, &FRAME, &job), k == 0);
        scene_free(s);
    }
}

/* How far it is from the middle to the first pixel on its right. */
static int first_on_the_right(const struct scene *s) {
    int first = SIDE;
    for (int64_t i = 0; i < s->own.n; i++)
        if (s->y[i] == SIDE / 2 && s->x[i] > SIDE / 2 && s->x[i] - SIDE / 2 < first)
            first = s->x[i] - SIDE / 2;
    return first;
}

/* What a fit added in the hole of a ring is left out; there, its own source stays, and so does what
 * is beside a pixel. */
static void unsupported(void **state) {
    struct scene *s = scene_make(&SHAPES[0], 10, 0);
    struct fit_job job = job_of(100, 1, 0, s);
    const struct fit_job added = job_of(100, 1, -1, s);
    (void)state;
    memcpy(job.set.value[1], added.set.value[0], sizeof *job.set.value);
    memcpy(job.set.value[2], added.set.value[0], sizeof *job.set.value);
    job.set.value[1][FIT_U] += FRAME.ux * (first_on_the_right(s) - 1.6);
    job.set.value[2][FIT_U] += FRAME.ux * (first_on_the_right(s) - 1.4);
    job.set.is_free[2] = true;
    job.set.source[1] = job.set.source[2] = -1;
    job.set.n = 3;
    job.before[2].flux = 7;
    flux_check_drop_unsupported(&s->fit, &FRAME, &job);
    assert_int_equal(job.set.n, 2);
    assert_int_equal(job.set.source[0], 0);
    assert_int_equal(job.set.source[1], -1);
    assert_true(job.set.is_free[1] && job.before[1].flux == 7);
    assert_true(job.set.value[1][FIT_U] > job.set.value[0][FIT_U]);
    scene_free(s);
}

/* --- the second fit --- */

static double distance(const struct scene *s, int32_t i, int32_t j) {
    return hypot(s->x[i] - s->x[j], s->y[i] - s->y[j]);
}

/* Peaks are apart, no pixel is far from all of them, and they are few. */
static void check_peaks(const struct scene *s, const struct deblended *more, double widest) {
    const double apart = fmax(2 * 5, sqrt((double)s->own.n / 16));
    assert_int_equal(more->n_added, more->n - 1);
    assert_in_range(more->n, 2, 40);
    assert_int_equal(more->peak[0], s->peak[0]);
    assert_true(fabs(widest - 1.5 * apart / 5) < 0.01);
    for (int32_t i = 0; i < more->n; i++) {
        assert_in_range(more->peak[i], 0, s->own.n - 1);
        for (int32_t j = 0; j < i; j++)
            assert_true(distance(s, more->peak[i], more->peak[j]) > 0.999 * apart);
    }
    for (int32_t i = 0; i < s->own.n; i++) {
        double nearest = INFINITY;
        for (int32_t j = 0; j < more->n; j++)
            nearest = fmin(nearest, distance(s, i, more->peak[j]));
        assert_true(nearest < 1.001 * apart);
    }
}

static enum srcfind_status fit_jobs(void *context, const struct fit_pixel *pixels,
                                    struct fit_job *jobs, int64_t n, struct threads *threads,
                                    struct error *error) {
    (void)context;
    return cpu_fit(pixels, jobs, n, threads, error);
}

static struct fit_job *run(const struct island_fit *fit) {
    const struct fitter fitter = {fit_jobs, NULL};
    struct fit_job *jobs = calloc((size_t)fit->parts.n, sizeof *jobs);
    struct fit_pixel *pixels = calloc((size_t)fit->n_pixels, sizeof *pixels);
    const struct grouped_island island = {fit, jobs};
    struct error error;
    island_fit_make_jobs(fit, &FRAME, 0, pixels, jobs);
    if (fit->parts.n > 1)
        assert_int_equal(sweeps_run(&island, 1, pixels, &fitter, NULL, &error), SRCFIND_OK);
    else
        assert_int_equal(cpu_fit(pixels, jobs, 1, NULL, &error), SRCFIND_OK);
    free(pixels);
    return jobs;
}

/* Each shape has about its flux after the second fit, and sources of their own are those of the
 * divided island and those that were added. */
static void second_fits(void **state) {
    (void)state;
    for (int k = 0; k < N_SHAPES; k++) {
        struct scene *s = scene_make(&SHAPES[k], 12, 1);
        struct deblended more;
        struct island_fit fit;
        struct fitted_sources fitted;
        const struct noise_areas noise = {28.3, 14.1};
        double widest;
        assert_true(flux_check_add_peaks(&s->fit, &FRAME, &s->arena, &more, &widest));
        check_peaks(s, &more, widest);
        assert_true(make_fit(s, &more, &fit));
        fit.widest = widest;
        struct fit_job *jobs = run(&fit);
        flux_check_drop_unsupported(&fit, &FRAME, jobs);
        assert_true(flux_check_holds(&CHECK, &fit, &FRAME, jobs));
        assert_true(island_fit_finish(&fit, &FRAME, &noise, jobs, &s->arena, &fitted));
        print_message("%s: %d pixels, %d peaks, %d sources leave %g\n", SHAPES[k].name,
                      (int)s->own.n, (int)more.n, (int)fitted.n, fitted.residual_rms);
        assert_true(fitted.residual_rms < 3);
        for (int64_t i = 0; i < fitted.n; i++)
            assert_true(fitted.source[i].is_fitted);
        for (int64_t i = 0; i < fit.parts.n; i++)
            jobs[i].is_fitted = false;
        assert_true(island_fit_finish(&fit, &FRAME, &noise, jobs, &s->arena, &fitted));
        assert_int_equal(fitted.n, 1); /* that of the divided island */
        assert_false(fitted.source[0].is_fitted);
        for (int64_t i = 0; i < s->own.n; i++)
            assert_int_equal(fitted.source_of[i], 0);
        free(jobs);
        scene_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_much),
        cmocka_unit_test(faint),
        cmocka_unit_test(unsupported),
        cmocka_unit_test(second_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
