/* Any pixels at all: every variant of the scan, and the histogram, against the plain version. The
 * first bytes choose how, the others are pixels, or are set into a picture that is large enough for
 * a plan. */
#include <stdlib.h>

#include "agreement.h"
#include "cpu/variants.h"
#include "target.h"

enum { WIDEST = 64, SETTINGS = 4, PLANNED_WIDTH = 211, PLANNED_HEIGHT = 173 };

static struct picture small_picture(const float *pixels, int n, int width) {
    struct picture p = {width, n / width, malloc((size_t)n * sizeof *pixels)};
    memcpy(p.pixels, pixels, (size_t)n * sizeof *pixels);
    return p;
}

static struct picture planned_picture(const float *pixels, int n, int kind, struct random *r) {
    struct picture p = picture_make(kind, PLANNED_WIDTH, PLANNED_HEIGHT, r);
    for (int i = 0; i < n; i++)
        p.pixels[random_below(r, PLANNED_WIDTH * PLANNED_HEIGHT)] = pixels[i];
    return p;
}

/* A search in some way that must not matter. */
static void check_variant(const struct picture *p, const struct cpu_variant *variant,
                          const struct detection *d, const struct oracle_result *expected,
                          struct random *r) {
    struct detection_result result;
    struct error error;
    struct memory_source *m =
        memory_source_make(p, 64 << random_below(r, 7), random_below(r, 2), random_below(r, 2));
    setenv("SRCFIND_SIMD", variant->name, 1);
    const enum srcfind_status status =
        cpu_detect(&m->source, d, unit_threads(1 + random_below(r, 3)), &result, &error);
    if (expected->background.n_kept == 0) {
        assert_int_equal(status, SRCFIND_ERROR_INPUT);
    } else {
        assert_int_equal(status, SRCFIND_OK);
        if (d->box > 0)
            assert_agrees_locally(&result, p, d);
        else
            assert_agrees(&result, expected, d);
    }
    detection_result_clear(&result);
    memory_source_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const int n = (int)(size > SETTINGS ? (size - SETTINGS) / sizeof(float) : 0);
    if (n < 1 || n > 1 << 14)
        return 0;
    float *pixels = malloc((size_t)n * sizeof *pixels);
    memcpy(pixels, data + SETTINGS, (size_t)n * sizeof *pixels);
    struct random r = {data[3]};
    const int width = 1 + data[0] % (n < WIDEST ? n : WIDEST);
    const bool planned = data[1] == 0,
               by_histogram = data[1] == 1 && data[2] == 1; /* these take long */
    struct picture p = planned ? planned_picture(pixels, n, data[2] % PICTURE_KINDS, &r)
                               : small_picture(pixels, n / width * width, width);
    struct detection d = random_detection(&r);
    struct oracle_result expected = oracle_detect(&p, &d);
    for (int i = 0; i < n_cpu_variants; i++)
        if (cpu_variants[i].runs())
            check_variant(&p, &cpu_variants[i], &d, &expected, &r);
    if (!planned && random_below(&r, 2)) {
        d.box = 8 + random_below(&r, 40);
        d.step = 1 + random_below(&r, (int)d.box);
        check_variant(&p, cpu_variant_choose(), &d, &expected, &r);
    }
    if (by_histogram)
        assert_histogram_agrees(&p, d.kappa, &expected, 1, false);
    oracle_free(&expected);
    picture_free(&p);
    free(pixels);
    return 0;
}
