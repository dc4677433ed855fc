/* The clip of a box gives the same doubles as the clip of the sorted pixels, whatever the guess is
 * that it starts from. */
#include <stdlib.h>

#include "cpu/clip_box.h"
#include "cpu/clip_sorted.h"
#include "cpu/variants.h"
#include "unit.h"

enum { MOST_ROWS = 130, MOST_PIXELS = MOST_ROWS * KEY_LANES };

/* Noise, with some sources; on steps, so that values are equal, or on a pedestal. */
static float random_pixel(struct random *r, int kind) {
    const double noise = random_normal(r);
    const double skewed = random_below(r, 8) == 0 ? 3 + 2 * fabs(noise) : noise;
    return kind == 0   ? (float)noise
           : kind == 1 ? (float)skewed
           : kind == 2 ? (float)floor(4 * skewed)
                       : (float)(1000 + skewed);
}

static struct noise_at expected_of(const float *pixels, int n, double kappa) {
    uint32_t *keys = malloc((size_t)n * sizeof *keys);
    struct sorted_set set;
    struct srcfind_background b = {0};
    for (int i = 0; i < n; i++)
        keys[i] = exact_key(pixels[i]);
    assert_true(sorted_from_keys(&set, keys, n));
    clip_run(&set.set, kappa, &b);
    sorted_set_clear(&set);
    return (struct noise_at){b.median, b.rms};
}

/* Near the noise, beside it, and far from it. */
static struct noise_at random_guess(struct random *r, struct noise_at noise) {
    const double off[] = {0, 0.1, 0.4, 3, 100}, scale[] = {1, 0.9, 1.3, 0.3, 5, 0};
    noise.background += off[random_below(r, 5)] * noise.rms * random_normal(r);
    noise.rms *= scale[random_below(r, 6)];
    return noise;
}

static void any_guess(void **state) {
    static _Alignas(KEY_ALIGNMENT) int32_t keys[MOST_PIXELS], middle[MOST_PIXELS + 2 * KEY_LANES],
        outer[MOST_PIXELS + 2 * KEY_LANES];
    static float pixels[MOST_PIXELS];
    static const double kappas[] = {3, 3, 2, 1, 0.5, 10};
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 20000 / UNIT_FEWER; i++) {
        const int n = 1 + random_below(&r, i % 2 ? 300 : MOST_PIXELS), kind = random_below(&r, 4);
        const struct key_rows rows = {keys, (n + KEY_LANES - 1) / KEY_LANES};
        const double kappa = kappas[random_below(&r, 6)];
        struct box box = {.rows = &rows, .n_rows = 1, .picked = {{middle, 0}, {outer, 0}, 0, 0}};
        const struct cpu_variant *variant = &cpu_variants[random_below(&r, n_cpu_variants)];
        box.kernels = variant->runs() ? variant->keys : cpu_variant_choose()->keys;
        for (int k = 0; k < rows.n * KEY_LANES; k++)
            keys[k] = k < n ? key_of_pixel(pixels[k] = random_pixel(&r, kind)) : KEY_BLANK;
        box.kernels->sum(&rows, 1, INT32_MIN, 1, 0, KEY_BLANK - 1, &box.all);
        const struct noise_at expected = expected_of(pixels, n, kappa);
        struct noise_at noise = random_guess(&r, expected);
        assert_int_equal(box.all.n, n);
        assert_true(clip_box(&box, kappa, &noise));
        assert_true(noise.background == expected.background && noise.rms == expected.rms);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_guess)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
