/* The sources of an island are fitted in groups, whose work is bounded: the more sources, the
 * smaller the groups and the fewer the iterations. */
#include <stdlib.h>

#include "measure/island_fit.h"
#include "unit.h"

enum { HEIGHT = 3 };

/* A strip of pixels with n peaks. */
struct strip {
    struct island_pixels own;
    struct deblended deblended;
};

static struct strip strip_make(int n, int apart) {
    const int64_t n_pixels = (int64_t)n * apart * HEIGHT;
    struct strip s = {.own = {.x = calloc((size_t)n_pixels, sizeof *s.own.x),
                              .y = calloc((size_t)n_pixels, sizeof *s.own.y),
                              .above = calloc((size_t)n_pixels, sizeof *s.own.above),
                              .rms = calloc((size_t)n_pixels, sizeof *s.own.rms),
                              .n = n_pixels},
                      .deblended = {.peak = calloc((size_t)n, sizeof *s.deblended.peak),
                                    .owner = calloc((size_t)n_pixels, sizeof *s.deblended.owner),
                                    .n = n}};
    for (int64_t i = 0; i < n_pixels; i++) {
        s.own.x[i] = (int32_t)(i % (n * apart));
        s.own.y[i] = (int32_t)(i / (n * apart));
        s.own.above[i] = 10;
        s.own.rms[i] = 1;
        s.deblended.owner[i] = s.own.x[i] / apart;
    }
    for (int i = 0; i < n; i++)
        s.deblended.peak[i] = n * apart + i * apart + apart / 2;
    return s;
}

static void strip_free(struct strip *s) {
    free(s->own.x);
    free(s->own.y);
    free(s->own.above);
    free(s->own.rms);
    free(s->deblended.peak);
    free(s->deblended.owner);
}

/* Each pixel and each source is in one job, and jobs are no larger than `group`. */
static void check(int n, int apart, int group, int rounds) {
    struct strip s = strip_make(n, apart);
    const struct margin margin = {0};
    const struct fit_frame frame = {1, 0, 1, true};
    const struct noise_map noise = {.rms = 1};
    struct island_fit fit;
    int64_t n_sources = 0, n_pixels = 0;
    assert_true(island_fit_make(&fit, &s.own, &s.deblended, &margin, &noise, 3));
    struct fit_job *jobs = calloc((size_t)fit.n_parts, sizeof *jobs);
    struct fit_pixel *pixels = calloc((size_t)fit.n_pixels, sizeof *pixels);
    island_fit_make_jobs(&fit, &frame, 0, pixels, jobs);
    for (int64_t k = 0; k < fit.n_parts; k++) {
        assert_in_range(jobs[k].set.n, 1, group);
        assert_int_equal(jobs[k].limits.rounds, rounds);
        assert_int_equal(jobs[k].is_first, fit.n_parts > 1);
        assert_int_equal(jobs[k].first, n_pixels);
        n_sources += jobs[k].set.n;
        n_pixels += jobs[k].n_pixels;
    }
    assert_int_equal(n_sources, n);
    assert_int_equal(n_pixels, s.own.n);
    free(jobs);
    free(pixels);
    island_fit_clear(&fit);
    strip_free(&s);
}

static void groups(void **state) {
    (void)state;
    for (int n = 1; n <= 8; n++)
        check(n, n, 8, 50);
    for (int n = 9; n < 300; n++) {
        check(n, 3, n <= 128 ? 8 : 4, n <= 128 ? 12 : 6);
        check(n, 2, 4, 6); /* six pixels a source */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
