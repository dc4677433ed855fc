/* The model of an image: the sums of all Gaussians, whichever pixels are asked for together. */
#include <stdlib.h>

#include "output/model.h"
#include "unit.h"

enum { WIDTH = 300, HEIGHT = 211, GAUSSIANS = 60 };

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
static double plain_sum(const struct gaussian *g, int64_t x, int64_t y) {
    double sum = 0;
    for (int i = 0; i < GAUSSIANS; i++)
        sum += gaussian_at(&g[i], (double)x, (double)y);
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
        assert_true(model_make(&model, g, GAUSSIANS, WIDTH, HEIGHT));
        for (int64_t y = 0; y < HEIGHT; y++) {
            double row[WIDTH], part[WIDTH];
            const int first = random_below(&r, WIDTH);
            const int n = 1 + random_below(&r, WIDTH - first);
            model_row(&model, y, 0, WIDTH, row);
            model_row(&model, y, first, n, part);
            assert_memory_equal(part, row + first, (size_t)n * sizeof *part);
            for (int64_t x = 0; x < WIDTH; x++) {
                const double plain = plain_sum(g, x, y);
                n_same += row[x] == plain;
                assert_true(fabs(row[x] - plain) < 4e-7);
            }
        }
        assert_true(n_same > WIDTH * HEIGHT * 999LL / 1000);
        model_clear(&model);
    }
}

static void no_gaussians(void **state) {
    struct model model;
    double row[WIDTH];
    (void)state;
    assert_true(model_make(&model, NULL, 0, WIDTH, HEIGHT));
    model_row(&model, HEIGHT - 1, 0, WIDTH, row);
    for (int x = 0; x < WIDTH; x++)
        assert_true(row[x] == 0);
    model_clear(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_all_gaussians),
        cmocka_unit_test(no_gaussians),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
