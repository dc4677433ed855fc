/* Sums of Gaussians: at the pixels of rows, whichever are asked for together, and at any point. */
#include <stdlib.h>

#include "measure/model.h"
#include "unit.h"

enum { WIDTH = 300, HEIGHT = 211, GAUSSIANS = 60 };

static const struct model_box image = {0, 0, WIDTH, HEIGHT, MODEL_CELL};

/* Of any shape and direction, some of them beyond the edges; every tenth one has no peak. */
static struct gaussian random_gaussian(struct random *r, int i) {
    const double major = 0.7 + 60 * pow(random_unit(r), 4), minor = 0.5 + 4 * random_unit(r);
    const double angle = M_PI * random_unit(r), c = cos(angle), s = sin(angle);
    const double a = 1 / (major * major), b = 1 / (minor * minor);
    return (struct gaussian){
        .peak = i % 10 == 9 ? 0 : 20 * random_unit(r) - 10,
        .x = (WIDTH + 40) * random_unit(r) - 20,
        .y = (HEIGHT + 40) * random_unit(r) - 20,
        .form = {.xx = a * c * c + b * s * s, .yy = a * s * s + b * c * c, .xy = (a - b) * c * s}};
}

/* Without cells; what is at the very border of a Gaussian's reach is less than 2e-8 of its peak. */
static double plain_sum(const struct gaussian *g, double x, double y) {
    double sum = 0;
    for (int i = 0; i < GAUSSIANS; i++)
        sum += gaussian_at(&g[i], x, y);
    return sum;
}

static void sums_of_all_gaussians(void **state) {
    struct random r = {3};
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        struct gaussian g[GAUSSIANS];
        struct model model;
        int64_t n_same = 0;
        for (int i = 0; i < GAUSSIANS; i++)
            g[i] = random_gaussian(&r, i);
        assert_true(model_make(&model, g, GAUSSIANS, &image));
        for (int64_t y = 0; y < HEIGHT; y++) {
            double row[WIDTH], part[WIDTH];
            const int first = random_below(&r, WIDTH);
            const int n = 1 + random_below(&r, WIDTH - first);
            model_row(&model, y, 0, WIDTH, row);
            model_row(&model, y, first, n, part);
            assert_memory_equal(part, row + first, (size_t)n * sizeof *part);
            for (int64_t x = 0; x < WIDTH; x++) {
                const double plain = plain_sum(g, (double)x, (double)y);
                n_same += row[x] == plain;
                assert_true(fabs(row[x] - plain) < 4e-7);
            }
        }
        assert_true(n_same > WIDTH * HEIGHT * 999LL / 1000);
        model_clear(&model);
    }
}

/* Whether a point is at the border of what a Gaussian reaches, where the sum has a step. */
static bool is_at_border(const struct gaussian *g, double x, double y) {
    for (int i = 0; i < GAUSSIANS; i++) {
        const double dx = x - g[i].x, dy = y - g[i].y;
        const double square =
            g[i].form.xx * dx * dx + 2 * g[i].form.xy * dx * dy + g[i].form.yy * dy * dy;
        if (fabs(square - GAUSSIAN_REACH) < 0.1)
            return true;
    }
    return false;
}

static void check_slope(const struct model *model, double x, double y) {
    const double step = 1e-4;
    const struct model_slope s = model_slope_at(model, x, y);
    const struct model_slope right = model_slope_at(model, x + step, y);
    const struct model_slope left = model_slope_at(model, x - step, y);
    const struct model_slope above = model_slope_at(model, x, y + step);
    const struct model_slope below = model_slope_at(model, x, y - step);
    const double dx = (model_at(model, x + step, y) - model_at(model, x - step, y)) / (2 * step);
    const double dy = (model_at(model, x, y + step) - model_at(model, x, y - step)) / (2 * step);
    assert_true(fabs(s.x - dx) < 1e-5);
    assert_true(fabs(s.y - dy) < 1e-5);
    assert_true(fabs(s.second.xx - (right.x - left.x) / (2 * step)) < 1e-5);
    assert_true(fabs(s.second.yy - (above.y - below.y) / (2 * step)) < 1e-5);
    assert_true(fabs(s.second.xy - (right.y - left.y) / (2 * step)) < 1e-5);
}

/* In any box, and beyond it. */
static void points(void **state) {
    struct random r = {4};
    int n = 0;
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        const struct model_box box = {random_below(&r, 100) - 20, random_below(&r, 100) - 20,
                                      1 + random_below(&r, 200), 1 + random_below(&r, 200),
                                      1 + random_below(&r, 40)};
        struct gaussian g[GAUSSIANS];
        struct model model;
        for (int i = 0; i < GAUSSIANS; i++)
            g[i] = random_gaussian(&r, i);
        assert_true(model_make(&model, g, GAUSSIANS, &box));
        for (int i = 0; i < 200; i++) {
            const double x = 400 * random_unit(&r) - 50, y = 300 * random_unit(&r) - 50;
            const double sum = model_at(&model, x, y), plain = plain_sum(g, x, y);
            assert_memory_equal(&sum, &plain, sizeof sum);
            if (is_at_border(g, x, y))
                continue;
            check_slope(&model, x, y);
            n++;
        }
        model_clear(&model);
    }
    assert_true(n > 1000);
}

static void no_gaussians(void **state) {
    struct model model;
    double row[WIDTH];
    (void)state;
    assert_true(model_make(&model, NULL, 0, &image));
    model_row(&model, HEIGHT - 1, 0, WIDTH, row);
    for (int x = 0; x < WIDTH; x++)
        assert_true(row[x] == 0);
    model_clear(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_all_gaussians),
        cmocka_unit_test(points),
        cmocka_unit_test(no_gaussians),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
