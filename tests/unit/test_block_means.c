/* The means of blocks, against two plain loops. */
#include <stdlib.h>

#include "output/picture/block_means.h"
#include "unit.h"

enum { CASES = 400, PARTS = 1 << 10 };

/* The mean of a block, by its definition; NaN for a block of blank pixels. */
static double plain_mean(const struct picture *p, int64_t block, int64_t column, int64_t row,
                         double zero, double unit) {
    double sum = 0, n = 0;
    for (int64_t y = row * block; y < (row + 1) * block && y < p->height; y++) {
        for (int64_t x = column * block; x < (column + 1) * block && x < p->width; x++) {
            const double value = (double)p->pixels[y * p->width + x];
            if (!isfinite(value))
                continue;
            sum += nearbyint(fmax(-0x1p20, fmin((value - zero) / unit, 0x1p20)) * PARTS) / PARTS;
            n++;
        }
    }
    return n > 0 ? sum / n : NAN;
}

static void check(const struct picture *p, int64_t most, struct random *random) {
    const int n_threads = 1 + random_below(random, 7);
    const double zero = random_unit(random), unit = 0.1 + random_unit(random);
    struct memory_source *memory = memory_source_make(
        p, 1 + random_below(random, 700), random_below(random, 2), random_below(random, 2));
    struct block_means means;
    struct error error;
    assert_int_equal(block_means_make(&means, &memory->source, most, zero, unit,
                                      unit_threads(n_threads), &error),
                     SRCFIND_OK);
    assert_true(means.width <= most && means.height <= most);
    assert_true(means.block == 1 ||
                (p->width > p->height ? p->width : p->height) > (means.block - 1) * most);
    for (int64_t i = 0; i < means.width * means.height; i++) {
        const double mean = (double)means.means[i];
        const double expected =
            plain_mean(p, means.block, i % means.width, i / means.width, zero, unit);
        assert_true(isnan(mean) ? isnan(expected)
                                : fabs(mean - expected) <= 1e-6 * fmax(fabs(expected), 1));
    }
    block_means_clear(&means);
    memory_source_free(memory);
}

static void random_pictures(void **state) {
    struct random random = {7};
    (void)state;
    for (int i = 0; i < CASES / UNIT_FEWER; i++) {
        const int width = 1 + random_below(&random, 90), height = 1 + random_below(&random, 90);
        struct picture p = picture_make(i % PICTURE_KINDS, width, height, &random);
        check(&p, 1 + random_below(&random, 100), &random);
        picture_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_pictures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
