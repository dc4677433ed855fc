/* Fits are the same bytes in vectors of two, four and eight doubles and in the plain version, end
 * with finite results, and find Gaussians that are there. */
#include <stdio.h>
#include <stdlib.h>

#include "cpu/fit.h"
#include "cpu/fit_kernels.h"
#include "fit_oracle.h"
#include "fit_scenes.h"
#include "unit.h"

static const struct fit_limits TIGHT = {200, 1e-12};

/* --- the same bytes --- */

/* Those that the processor has. */
static int list_kernels(fit_kernel **kernels) {
    int n = 0;
    kernels[n++] = fit_with_2;
#ifdef HAVE_AVX2
    if (__builtin_cpu_supports("avx2"))
        kernels[n++] = fit_with_4;
#endif
#ifdef HAVE_AVX512
    if (__builtin_cpu_supports("avx512f"))
        kernels[n++] = fit_with_8;
#endif
    return n;
}

static struct fit_job run(fit_kernel *kernel, const struct fit_scene *scene) {
    void *memory = malloc(fit_memory_size(scene->job.n_pixels));
    struct fit_job job = scene->job;
    kernel(scene->pixels, &job, memory);
    free(memory);
    return job;
}

/* What became of the fits, to check that all that can happen did. */
static struct { int fitted, not_fitted, dropped, added, beam_shaped, free; } count;

/* How many sources have a component. */
static int count_sources(const struct fit_set *set) {
    int n = 0;
    for (int i = 0; i < set->n; i++)
        n += set->source[i] >= 0;
    return n;
}

static void count_result(const struct fit_job *before, const struct fit_job *after) {
    count.fitted += after->is_fitted;
    count.not_fitted += !after->is_fitted;
    count.added += count_sources(&after->set) < after->set.n;
    count.dropped += after->is_fitted && count_sources(&after->set) < before->set.n;
    for (int i = 0; i < after->set.n; i++) {
        count.beam_shaped += !after->set.is_free[i];
        count.free += after->set.is_free[i];
    }
}

static void check_finite(const struct fit_job *job) {
    assert_in_range(job->set.n, 0, FIT_MOST);
    for (int i = 0; job->is_fitted && i < job->set.n; i++) {
        const double *c = job->set.value[i];
        for (int k = 0; k < FIT_PARAMETERS; k++)
            assert_true(isfinite(c[k]));
        assert_true(c[FIT_PEAK] > 0);
        assert_true(c[FIT_P] > 0 && c[FIT_R] > 0 && c[FIT_P] * c[FIT_R] > c[FIT_Q] * c[FIT_Q]);
        if (!job->set.is_free[i])
            assert_true(c[FIT_P] == 1 && c[FIT_Q] == 0 && c[FIT_R] == 1);
    }
}

/* The sum of the squares that the components of a job leave. */
static double chi2_of(const struct fit_scene *s, const struct fit_job *job) {
    double chi2 = 0;
    for (int i = 0; i < job->n_pixels; i++) {
        const struct fit_pixel *p = &s->pixels[job->first + i];
        const double u = s->job.frame.ux * p->x + s->job.frame.uy * p->y,
                     v = s->job.frame.vy * p->y;
        double rest = p->value;
        for (int k = 0; k < job->set.n; k++) {
            const double *c = job->set.value[k], du = u - c[FIT_U], dv = v - c[FIT_V];
            const double square = c[FIT_P] * du * du + 2 * c[FIT_Q] * du * dv + c[FIT_R] * dv * dv;
            rest -= square < 36 ? c[FIT_PEAK] * exp(-square / 2) : 0;
        }
        chi2 += rest * rest;
    }
    return chi2;
}

/* What is reported leaves at most 20 beams a component more than the free fit does, but for
 * rounding errors of values like 1e30. */
static void check_chi2(const struct fit_scene *scene, const struct fit_job *result) {
    const double beam = 2 * M_PI / (scene->job.frame.ux * scene->job.frame.vy);
    const struct fit_job nothing = {.first = scene->job.first, .n_pixels = scene->job.n_pixels};
    struct fit_scene free_fit = *scene;
    free_fit.job.only_free = true;
    const struct fit_job first = run(fit_with_2, &free_fit);
    const double most = chi2_of(scene, &first) + 20 * beam * result->set.n;
    if (result->is_fitted)
        assert_true(chi2_of(scene, result) <= most * (1 + 1e-9) + 1e-20 * chi2_of(scene, &nothing));
}

static void check(const struct fit_scene *scene) {
    fit_kernel *kernels[3];
    const int n = list_kernels(kernels);
    struct fit_job expected = scene->job;
    oracle_fit(scene->pixels, &expected);
    check_finite(&expected);
    check_chi2(scene, &expected);
    count_result(&scene->job, &expected);
    for (int i = 0; i < n; i++) {
        const struct fit_job job = run(kernels[i], scene);
        ASSERT_SAME(job, expected);
    }
}

static void random_scenes(void **state) {
    static const struct fit_limits limits[] = {{12, 0.1}, {12, 0.1}, {3, 0.1}, {40, 1e-6}};
    struct random r = {1};
    fit_kernel *kernels[3];
    (void)state;
    print_message("%d kernels\n", list_kernels(kernels));
    memset(&count, 0, sizeof count);
    for (int i = 0; i < 2400 / UNIT_FEWER; i++) {
        const uint64_t seed = r.state;
        struct fit_scene scene = fit_scene_make(i % FIT_SCENES, i % 3 ? 20 : 40, &r);
        print_message("%s, seed %llu: %d pixels, %d sources\n", fit_scene_name(i % FIT_SCENES),
                      (unsigned long long)seed, (int)scene.job.n_pixels, (int)scene.job.set.n);
        scene.job.limits = limits[random_below(&r, 4)];
        check(&scene);
        fit_scene_free(&scene);
    }
    print_message("%d fitted, %d not, %d without all sources, %d with more components; %d of the "
                  "beam's shape, %d free\n",
                  count.fitted, count.not_fitted, count.dropped, count.added, count.beam_shaped,
                  count.free);
    assert_true(count.fitted > 1000 / UNIT_FEWER && count.not_fitted > 70 / UNIT_FEWER);
    assert_true(count.dropped > 70 / UNIT_FEWER);
    assert_true(count.added > 200 / UNIT_FEWER);
    assert_true(count.beam_shaped > 200 / UNIT_FEWER && count.free > 200 / UNIT_FEWER);
}

/* As many pixels as a fit may have; a few iterations go over all of them. */
static void most_pixels(void **state) {
    enum { SIDE = 256 };
    static const struct fit_limits few = {3, 0.1};
    struct random r = {2};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct fit_scene scene = {
            .job = {.frame = frame_of_beam(60, 40, 1), .n_inside = 50000, .limits = few}};
        scene.pixels = malloc(FIT_MOST_PIXELS * sizeof *scene.pixels);
        for (int k = 0; k < FIT_MOST_PIXELS - i; k++) {
            const int x = k % SIDE - 120, y = k / SIDE - 110;
            scene.pixels[scene.job.n_pixels++] = (struct fit_pixel){
                random_normal(&r) + 20 * exp(-(x * x + 2 * y * y) / 2000.0), x, y};
        }
        for (int k = 0; k < 1 + i; k++) {
            const double c[FIT_PARAMETERS] = {20, k, -k, 1, 0, 1};
            memcpy(scene.job.set.value[k], c, sizeof c);
            scene.job.set.is_free[k] = true;
            scene.job.set.source[k] = k;
            scene.job.set.n = k + 1;
        }
        scene.job.widest = fit_widest(scene.job.frame.ux * SIDE, scene.job.frame.vy * SIDE);
        check(&scene);
        fit_scene_free(&scene);
    }
}

/* Jobs of one array, on any number of threads. */
static void many_jobs(void **state) {
    enum { JOBS = 100 };
    static struct fit_job jobs[JOBS], now[JOBS], expected[JOBS];
    struct random r = {3};
    struct fit_pixel *pixels = NULL;
    int64_t n = 0;
    struct error error;
    (void)state;
    for (int i = 0; i < JOBS; i++) {
        struct fit_scene scene = fit_scene_make(i % FIT_SCENES, 20, &r);
        pixels = realloc(pixels, (size_t)(n + scene.job.n_pixels + 1) * sizeof *pixels);
        memcpy(pixels + n, scene.pixels + scene.job.first,
               (size_t)scene.job.n_pixels * sizeof *pixels);
        jobs[i] = scene.job;
        jobs[i].first = n;
        n += scene.job.n_pixels;
        fit_scene_free(&scene);
    }
    memcpy(expected, jobs, sizeof jobs);
    for (int i = 0; i < JOBS; i++)
        oracle_fit(pixels, &expected[i]);
    for (int threads = 0; threads < 8; threads++) {
        memcpy(now, jobs, sizeof jobs);
        assert_int_equal(
            cpu_fit(pixels, now, threads ? JOBS : 0, unit_threads(threads ? threads : 1), &error),
            SRCFIND_OK);
        assert_memory_equal(now, threads ? expected : jobs, sizeof now);
    }
    free(pixels);
}

/* --- Gaussians that are there --- */

/* A source in pixels: sigma along both axes; angle from x towards y. */
struct truth {
    double peak, x, y, major, minor, angle;
};

static struct tensor_form { double xx, xy, yy; } form_of(const struct truth *t) {
    const double a = 1 / (t->major * t->major), b = 1 / (t->minor * t->minor);
    const double c = cos(t->angle), s = sin(t->angle);
    return (struct tensor_form){a * c * c + b * s * s, (a - b) * c * s, a * s * s + b * c * c};
}

/* Noiseless pixels where they are above `cut`, and those up to two away; those with x > right or y
 * > top are left out. */
static struct fit_scene scene_of(const struct truth *t, int n, double cut, int right, int top) {
    enum { REACH = 40 };
    struct fit_scene scene = {.job = {.frame = frame_of_beam(5, 4, 0.7), .limits = TIGHT}};
    double least_x = 0, least_y = 0, most_x = 0, most_y = 0;
    scene.pixels = calloc((2 * REACH + 1) * (2 * REACH + 1), sizeof *scene.pixels);
    for (int pass = 0; pass < 2; pass++)
        for (int y = -REACH; y <= REACH && y <= top; y++)
            for (int x = -REACH; x <= REACH && x <= right; x++) {
                double value = 0, widened = 0;
                for (int i = 0; i < n; i++) {
                    const struct tensor_form f = form_of(&t[i]);
                    const double dx = x - t[i].x, dy = y - t[i].y;
                    const double square = f.xx * dx * dx + 2 * f.xy * dx * dy + f.yy * dy * dy;
                    value += t[i].peak * exp(-square / 2);
                    widened += t[i].peak * exp(-square / 4);
                }
                if (pass == 0 ? !(value > cut) : value > cut || !(widened > cut))
                    continue;
                scene.pixels[scene.job.n_pixels++] = (struct fit_pixel){value, x, y};
                scene.job.n_inside += pass == 0;
                least_x = fmin(x, least_x);
                least_y = fmin(y, least_y);
                most_x = fmax(x, most_x);
                most_y = fmax(y, most_y);
            }
    scene.job.widest = fit_widest(scene.job.frame.ux * (most_x - least_x) +
                                      scene.job.frame.uy * (most_y - least_y),
                                  scene.job.frame.vy * (most_y - least_y));
    return scene;
}

static void add_start(struct fit_scene *s, double peak, int x, int y) {
    const double c[FIT_PARAMETERS] = {
        peak, s->job.frame.ux * x + s->job.frame.uy * y, s->job.frame.vy * y, 1, 0, 1};
    memcpy(s->job.set.value[s->job.set.n], c, sizeof c);
    s->job.set.source[s->job.set.n] = s->job.set.n;
    s->job.set.is_free[s->job.set.n++] = true;
}

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g, within %g", value, expected, tolerance);
}

/* Component k of a result is this source, to a millionth. */
static void assert_is(const struct fit_scene *s, const struct fit_job *job, int k,
                      const struct truth *t) {
    const double *c = job->set.value[k];
    const struct fit_frame *f = &s->job.frame;
    const double y = c[FIT_V] / f->vy, x = (c[FIT_U] - f->uy * y) / f->ux;
    const struct tensor_form form = form_of(t);
    assert_near(c[FIT_PEAK], t->peak, 1e-6 * t->peak);
    assert_near(x, t->x, 1e-6);
    assert_near(y, t->y, 1e-6);
    assert_near(c[FIT_P] * f->ux * f->ux, form.xx, 1e-6 * form.xx);
    assert_near(c[FIT_P] * f->ux * f->uy + c[FIT_Q] * f->ux * f->vy, form.xy, 1e-6 * form.xx);
    assert_near(c[FIT_P] * f->uy * f->uy + 2 * c[FIT_Q] * f->uy * f->vy + c[FIT_R] * f->vy * f->vy,
                form.yy, 1e-6 * form.yy);
}

/* A source that is wider than the beam, in any direction, whole or cut. */
static void one_gaussian(void **state) {
    static const struct truth truths[] = {{100, 0, 0, 4, 4, 0},
                                          {100, 0.25, -0.4, 5, 3, 0},
                                          {3000, -0.49, 0.3, 6, 3.5, 1},
                                          {40, 0.1, 0.2, 7, 6, 2.5},
                                          {1e9, 0.5, 0.5, 5, 4, -1}};
    fit_kernel *kernels[3];
    const int n_kernels = list_kernels(kernels);
    (void)state;
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        for (int cut = 0; cut < 4; cut++) {
            struct fit_scene s =
                scene_of(&truths[i], 1, truths[i].peak / 8, cut % 2 ? 2 : 40, cut / 2 ? 3 : 40);
            add_start(&s, truths[i].peak, 0, 0);
            const struct fit_job job = run(kernels[i % n_kernels], &s);
            assert_true(job.is_fitted);
            assert_int_equal(job.set.n, 1);
            assert_true(job.set.is_free[0]);
            assert_is(&s, &job, 0, &truths[i]);
            fit_scene_free(&s);
        }
}

/* The beam itself, as wide as frame_of_beam(5, 4, 0.7) says. */
static const struct truth beam = {50, 0.3, -0.2, 5 / 2.3548200450309493, 4 / 2.3548200450309493,
                                  0.7};

static void beam_shape(void **state) {
    struct fit_scene s = scene_of(&beam, 1, beam.peak / 10, 40, 40);
    (void)state;
    add_start(&s, beam.peak, 0, 0);
    const struct fit_job job = run(fit_with_2, &s);
    assert_int_equal(job.set.n, 1);
    assert_int_equal(job.set.is_free[0], 0);
    assert_is(&s, &job, 0, &beam);
    s.job.only_free = true; /* which is a free fit */
    const struct fit_job first = run(fit_with_2, &s);
    assert_int_equal(first.set.is_free[0], 1);
    assert_is(&s, &first, 0, &beam);
    s.job.only_free = s.job.frame.has_beam = false;
    const struct fit_job without = run(fit_with_2, &s);
    assert_int_equal(without.set.is_free[0], 1);
    assert_is(&s, &without, 0, &beam);
    fit_scene_free(&s);
}

/* Sources a little wider than the beam, one that has no start: each has its own shape where that is
 * wanted, and the beam's where that is; where neither is, the fit says how much flux its own had.
 */
static void chosen_shapes(void **state) {
    struct truth both[2] = {beam, beam};
    (void)state;
    for (int i = 0; i < 2; i++) {
        both[i].major *= 1.05;
        both[i].minor *= 1.05;
    }
    both[1].x += 9;
    both[1].peak = 10;
    both[0].peak = 20;
    struct fit_scene s = scene_of(both, 2, 2, 40, 40);
    add_start(&s, both[0].peak, 0, 0);
    for (int shapes = FIT_SHAPES_CHOSEN; shapes <= FIT_SHAPES_BEAM; shapes++) {
        s.job.frame.shapes = (enum fit_shapes)shapes;
        s.job.set.is_free[0] = shapes != FIT_SHAPES_BEAM;
        const struct fit_job job = run(fit_with_2, &s);
        assert_int_equal(job.set.n, 2);
        for (int i = 0; i < 2; i++) {
            const double flux = shapes == FIT_SHAPES_CHOSEN ? both[i].peak * 1.05 * 1.05 : 0;
            assert_near(job.before[i].flux, flux, 0.02 * flux);
            assert_int_equal(job.set.is_free[i], shapes == FIT_SHAPES_FREE);
            if (shapes == FIT_SHAPES_FREE)
                assert_is(&s, &job, i, &both[i]);
        }
    }
    fit_scene_free(&s);
}

/* A point whose width is not quite the header's beam: a bright one keeps its own, a faint one gets
 * the beam's. */
static void not_quite_the_beam(void **state) {
    static const double scales[] = {0.8, 0.94, 0.98, 1.02, 1.06};
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct truth point = beam;
        point.peak = i < 5 ? 1000 : 10;
        point.major *= scales[i % 5];
        point.minor *= scales[i % 5];
        struct fit_scene s = scene_of(&point, 1, point.peak / 10, 40, 40);
        add_start(&s, point.peak, 0, 0);
        const struct fit_job job = run(fit_with_2, &s);
        assert_int_equal(job.set.n, 1);
        assert_int_equal(job.set.is_free[0], i < 5);
        if (i < 5)
            assert_is(&s, &job, 0, &point);
        fit_scene_free(&s);
    }
}

/* A bright core on a patch of half its peak, both narrower or wider than the beam and close to each
 * other: both come back. */
static void core_on_a_patch(void **state) {
    static const double scales[] = {0.94, 1.04};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct truth both[2] = {beam, beam};
        both[0].peak = 400;
        both[0].major *= scales[i];
        both[0].minor *= scales[i];
        both[1] = (struct truth){200, 6.3, 2.8, 2.2 * both[0].major, 2.2 * both[0].major, 0};
        struct fit_scene s = scene_of(both, 2, 3, 40, 40);
        add_start(&s, 500, 0, 0);
        add_start(&s, 200, 7, 3);
        const struct fit_job job = run(fit_with_2, &s);
        assert_int_equal(job.set.n, 2);
        assert_is(&s, &job, 0, &both[0]);
        assert_is(&s, &job, 1, &both[1]);
        fit_scene_free(&s);
    }
}

/* Two points 1.5 beams apart: equal ones from one start, from which a free fit makes one long
 * source; others from one start each. */
static void two_points(void **state) {
    static const double ratios[] = {1, 0.3};
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int direction = 0; direction < 6; direction++) {
            const double apart = 1.5 * 4.5, angle = direction * M_PI / 6;
            struct truth both[2] = {beam, beam};
            both[0].peak = 100;
            both[1].peak = 100 * ratios[i];
            both[1].x += apart * cos(angle);
            both[1].y += apart * sin(angle);
            struct fit_scene s = scene_of(both, 2, 5, 40, 40);
            add_start(&s, 100, 0, 0);
            if (i > 0)
                add_start(&s, both[1].peak, (int)rint(both[1].x), (int)rint(both[1].y));
            const struct fit_job job = run(fit_with_2, &s);
            assert_int_equal(job.set.n, 2);
            const double first = s.job.frame.ux * both[0].x + s.job.frame.uy * both[0].y;
            const int k = fabs(job.set.value[0][FIT_U] - first) +
                              fabs(job.set.value[0][FIT_V] - s.job.frame.vy * both[0].y) >
                          1;
            assert_is(&s, &job, k, &both[0]);
            assert_is(&s, &job, 1 - k, &both[1]);
            assert_int_equal(job.set.is_free[0] + job.set.is_free[1], 0);
            fit_scene_free(&s);
        }
}

/* Eight sources together, and one more in the residual. */
static void nine_sources(void **state) {
    struct truth truths[9];
    (void)state;
    for (int i = 0; i < 9; i++) {
        truths[i] = beam;
        truths[i].x = i % 3 * 8 - 8 + 0.1 * i;
        truths[i].y = i / 3 * 8 - 8 - 0.05 * i;
        truths[i].peak = 300 - 20 * i;
    }
    struct fit_scene s = scene_of(truths, 9, 10, 40, 40);
    for (int i = 0; i < 8; i++)
        add_start(&s, truths[i].peak, i % 3 * 8 - 8, i / 3 * 8 - 8);
    const struct fit_job job = run(fit_with_2, &s);
    assert_int_equal(job.set.n, 9);
    for (int i = 0; i < 9; i++) {
        assert_is(&s, &job, i, &truths[i]);
        assert_int_equal(job.set.is_free[i], 0);
    }
    fit_scene_free(&s);
}

/* An extended source in the flank of a brighter one, which has no start, is one component with a
 * shape of its own, and not three of the beam's. */
static void second_extended(void **state) {
    const struct truth both[2] = {{500, 0, 0, 5.5, 5.5, 0}, {60, 14, -3, 5, 4.5, 0.3}};
    struct fit_scene s = scene_of(both, 2, 3, 40, 40);
    (void)state;
    add_start(&s, both[0].peak, 0, 0);
    const struct fit_job job = run(fit_with_2, &s);
    assert_int_equal(job.set.n, 2);
    assert_is(&s, &job, 0, &both[0]);
    assert_is(&s, &job, 1, &both[1]);
    assert_int_equal(job.set.source[0], 0);
    assert_int_equal(job.set.source[1], -1);
    fit_scene_free(&s);
}

/* --- what is there, and is no Gaussian --- */

/* A start that has no source within its reach keeps no peak, and has no component; the others have
 * theirs. */
static void start_without_a_source(void **state) {
    struct truth both[2] = {beam, beam};
    (void)state;
    both[1].x += 12;
    struct fit_scene s = scene_of(both, 2, 5, 40, 40);
    add_start(&s, both[0].peak, 0, 0);
    add_start(&s, 10, -6, -1);
    add_start(&s, both[1].peak, 12, 0);
    const struct fit_job job = run(fit_with_2, &s);
    assert_true(job.is_fitted);
    assert_int_equal(job.set.n, 2);
    assert_is(&s, &job, 0, &both[0]);
    assert_is(&s, &job, 1, &both[1]);
    assert_int_equal(job.set.source[1], 2);
    fit_scene_free(&s);
}

/* A source whose centre is more than a fifth of a beam beyond the edge of the pixels is not fitted,
 * however wide it is: any peak would do. */
static void beyond_the_edge(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        const int right = i % 10 - 6;
        struct truth t = beam;
        t.peak = 1000;
        t.major *= i < 10 ? 1 : 3;
        t.minor *= i < 10 ? 1 : 3;
        struct fit_scene s = scene_of(&t, 1, 3, right, 40);
        add_start(&s, 100, right, 0);
        const struct fit_job job = run(fit_with_2, &s);
        assert_int_equal(job.is_fitted, right >= -1);
        assert_int_equal(job.set.n, 1); /* the start, where there is no fit */
        if (job.is_fitted)
            assert_is(&s, &job, 0, &t);
        fit_scene_free(&s);
    }
}

/* What is longer than the beam and half as wide is no source under this beam: no component is so.
 */
static void needle(void **state) {
    struct truth t = beam;
    (void)state;
    t.peak = 200;
    t.major *= 3;
    t.minor /= 2;
    for (int direction = 0; direction < 6; direction++) {
        t.angle = direction * M_PI / 6;
        struct fit_scene s = scene_of(&t, 1, 5, 40, 40);
        add_start(&s, t.peak, 0, 0);
        const struct fit_job job = run(fit_with_2, &s);
        for (int k = 0; job.is_fitted && k < job.set.n; k++) {
            const double *c = job.set.value[k];
            const double mean = (c[FIT_P] + c[FIT_R]) / 2;
            const double half = hypot((c[FIT_P] - c[FIT_R]) / 2, c[FIT_Q]);
            assert_true(1 / sqrt(mean - half) < 1.25 || 1 / sqrt(mean + half) > 0.75);
        }
        fit_scene_free(&s);
    }
}

/* A plateau under the beam: its flux is that of its pixels within a sixth. A Gaussian that is
 * fitted to its core has half as much again. */
static void plateau(void **state) {
    struct truth *points = calloc(400, sizeof *points);
    double flux = 0, fitted = 0;
    int n = 0;
    (void)state;
    for (int y = -8; y <= 8; y++)
        for (int x = -8; x <= 8; x++)
            if (x * x + y * y <= 64) {
                points[n] = beam;
                points[n].x = x;
                points[n].y = y;
                points[n++].peak = 1;
            }
    struct fit_scene s = scene_of(points, n, 3, 40, 40);
    for (int i = 0; i < s.job.n_pixels; i++)
        flux += s.pixels[i].value;
    add_start(&s, 20, 0, 0);
    s.job.limits = FIT_LIMITS;
    const struct fit_job job = run(fit_with_2, &s);
    assert_true(job.is_fitted);
    for (int i = 0; i < job.set.n; i++) {
        const double *c = job.set.value[i];
        fitted += c[FIT_PEAK] * 2 * M_PI / sqrt(c[FIT_P] * c[FIT_R] - c[FIT_Q] * c[FIT_Q]) /
                  (s.job.frame.ux * s.job.frame.vy);
    }
    assert_near(fitted, flux, flux / 6);
    fit_scene_free(&s);
    free(points);
}

/* The exponential is right to 3e-13. */
#define EXP tested_exp
#define EXP_FUNCTION static
#define REAL double
#define FROM_BITS from_bits
#define TO_BITS to_bits
static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t to_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
#include "backend/fit_exp.inc"

static void exponential(void **state) {
    struct random r = {4};
    (void)state;
    assert_true(tested_exp(0) == 1);
    for (int i = 0; i < 1000000 / UNIT_FEWER; i++) {
        const double x = -(i % 2 ? 100 : 2) * random_unit(&r), expected = exp(x);
        assert_near(tested_exp(x), expected, 3e-13 * expected);
    }
    assert_near(tested_exp(-100), exp(-100), 3e-13 * exp(-100));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_scenes),
        cmocka_unit_test(most_pixels),
        cmocka_unit_test(many_jobs),
        cmocka_unit_test(one_gaussian),
        cmocka_unit_test(beam_shape),
        cmocka_unit_test(chosen_shapes),
        cmocka_unit_test(not_quite_the_beam),
        cmocka_unit_test(core_on_a_patch),
        cmocka_unit_test(two_points),
        cmocka_unit_test(nine_sources),
        cmocka_unit_test(second_extended),
        cmocka_unit_test(start_without_a_source),
        cmocka_unit_test(beyond_the_edge),
        cmocka_unit_test(needle),
        cmocka_unit_test(plateau),
        cmocka_unit_test(exponential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
