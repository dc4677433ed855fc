/* The least, median and largest rms of the nodes, and percentiles of their background, against a
 * sort: of noise, of slopes, of equal nodes, and where a sample of the nodes is like no other. */
#include <stdlib.h>

#include "api/noise.h"
#include "common/random.h"
#include "unit.h"

enum { NOISE, SLOPE, EQUAL, STEPS, ODD_SAMPLE, KINDS };

static double value_of(int kind, uint64_t k, uint64_t which) {
    const double random = random_number(3, which, k, 0);
    switch (kind) {
    case SLOPE:
        return (double)k + (double)which;
    case EQUAL:
        return 7;
    case STEPS:
        return floor(20 * random) + 1;
    case ODD_SAMPLE: /* one in 31 */
        return k % 31 == 0 ? 100 + random : random + 1;
    default:
        return random - (which == 0 ? 0.5 : -1);
    }
}

static int compare(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void check(int kind, int64_t n_x, int64_t n_y, int n_threads) {
    const int64_t n = n_x * n_y;
    const struct detection detection = {.box = 60, .step = 20};
    struct noise_map map = {.n_x = n_x, .n_y = n_y};
    double *values[2] = {malloc((size_t)n * sizeof(double)), malloc((size_t)n * sizeof(double))};
    struct srcfind_background b;
    struct srcfind_quality quality;
    map.nodes = malloc((size_t)n * sizeof *map.nodes);
    for (int64_t k = 0; k < n; k++) {
        values[0][k] = map.nodes[k].background = value_of(kind, (uint64_t)k, 0);
        values[1][k] = map.nodes[k].rms = value_of(kind, (uint64_t)k, 1);
    }
    assert_true(noise_describe(&detection, &map, unit_threads(n_threads), &b, &quality));
    for (int i = 0; i < 2; i++)
        qsort(values[i], (size_t)n, sizeof(double), compare);
    assert_true(b.box == 60 && b.step == 20);
    assert_true(b.rms_least == values[1][0] && b.rms_most == values[1][n - 1]);
    assert_true(b.rms_median == values[1][(n - 1) / 2]);
    assert_true(quality.background_p10 == values[0][(n - 1) / 10]);
    assert_true(quality.background_p90 == values[0][(n - 1) * 9 / 10]);
    for (int i = 0; i < 2; i++)
        free(values[i]);
    noise_map_clear(&map);
}

static void nodes_of_all_kinds(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int64_t n = 1; n < 12; n++)
            check(kind, n, 1 + n / 3, 1);
        check(kind, 300, 200, 1);
        check(kind, 700, 500, 3); /* of so many a sample is taken */
    }
}

/* One noise for the image has no nodes. */
static void no_nodes(void **state) {
    const struct detection detection = {.box = 0};
    const struct noise_map map = {.rms = 1};
    struct srcfind_background b = {.rms_median = 3};
    struct srcfind_quality quality;
    (void)state;
    assert_true(noise_describe(&detection, &map, NULL, &b, &quality));
    assert_true(isnan(quality.background_p10) && isnan(quality.background_p90));
    assert_true(b.rms_median == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nodes_of_all_kinds),
                                       cmocka_unit_test(no_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
