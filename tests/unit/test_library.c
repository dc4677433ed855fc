/* The public calls on pixels in memory. */
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "srcfind.h"
#include "unit.h"

enum { WIDTH = 120, HEIGHT = 90, STRIDE = 131 };

static struct srcfind_catalogue *find(const float *pixels, int64_t stride,
                                      const struct srcfind_options *options) {
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue = NULL;
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_pixels(finder, pixels, WIDTH, HEIGHT, stride, &catalogue),
                     SRCFIND_OK);
    srcfind_destroy(finder);
    return catalogue;
}

static char *text_of(const struct srcfind_catalogue *catalogue, enum srcfind_format format) {
    const struct srcfind_options options = srcfind_default_options();
    struct srcfind *finder;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    srcfind_create(&options, &finder);
    assert_int_equal(srcfind_catalogue_write(finder, catalogue, format, stream), SRCFIND_OK);
    fclose(stream);
    srcfind_destroy(finder);
    return text;
}

static void strides(void **state) {
    const struct srcfind_options options = srcfind_default_options();
    struct random r = {1};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    float *spaced = calloc((size_t)STRIDE * HEIGHT, sizeof *spaced);
    (void)state;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < STRIDE; x++)
            spaced[y * STRIDE + x] = x < WIDTH ? p.pixels[y * WIDTH + x] : 1e30f;
    struct srcfind_catalogue *a = find(p.pixels, WIDTH, &options);
    struct srcfind_catalogue *b = find(spaced, STRIDE, &options);
    assert_true(a->n_sources > 10);
    for (int format = SRCFIND_CSV; format <= SRCFIND_JSON; format++) {
        char *first = text_of(a, (enum srcfind_format)format);
        char *second = text_of(b, (enum srcfind_format)format);
        assert_string_equal(first, second);
        free(first);
        free(second);
    }
    srcfind_catalogue_destroy(a);
    srcfind_catalogue_destroy(b);
    free(spaced);
    picture_free(&p);
}

/* One source whose numbers are plain. */
static void known_source(void **state) {
    static float pixels[WIDTH * HEIGHT];
    struct srcfind_options options = srcfind_default_options();
    (void)state;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        pixels[i] = i % 2 ? 1 : -1;
    pixels[10 * WIDTH + 20] = 100;
    pixels[10 * WIDTH + 21] = 300;
    options.connectivity = 8;
    struct srcfind_catalogue *c = find(pixels, WIDTH, &options);
    assert_int_equal(c->n_sources, 1);
    assert_true(c->background.rms == 1 && c->background.median == 0);
    const struct srcfind_source *s = &c->sources[0];
    assert_true(s->x == 20.75 && s->y == 10);
    assert_true(s->pixel_sum == 400 && s->peak_flux == 300 && s->snr == 300);
    assert_int_equal(s->x_peak, 21);
    assert_int_equal(s->n_pixels, 2);
    assert_int_equal(s->flags,
                     SRCFIND_FLAG_NO_BEAM | SRCFIND_FLAG_NO_SHAPE | SRCFIND_FLAG_UNCERTAIN_TOTAL);
    assert_true(isnan(s->lon) && isnan(s->major));
    srcfind_catalogue_destroy(c);
}

/* Rows that a program has changed are written as they are, whatever the row before says. */
static void changed_rows(void **state) {
    const struct srcfind_options options = srcfind_default_options();
    struct random r = {2};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    struct srcfind_catalogue *c = find(p.pixels, WIDTH, &options);
    (void)state;
    assert_true(c->n_sources > 10);
    c->sources[2].isl_rms = c->sources[3].isl_rms = 7.5;
    c->sources[5].isl_mean = -0.0;
    c->sources[6].isl_mean = 0;
    c->sources[7].e_peak_flux = NAN;
    char *all = text_of(c, SRCFIND_CSV);
    const char *line = strchr(all, '\n') + 1;
    for (int64_t i = 0; i < c->n_sources; i++) {
        struct srcfind_catalogue one = *c;
        one.sources = &c->sources[i];
        one.n_sources = 1;
        char *text = text_of(&one, SRCFIND_CSV);
        const char *alone = strchr(text, '\n') + 1;
        assert_true(strncmp(line, alone, strlen(alone)) == 0);
        line += strlen(alone);
        free(text);
    }
    free(all);
    srcfind_catalogue_destroy(c);
    picture_free(&p);
}

static void assert_refused(const struct srcfind_options *options, const char *word) {
    struct srcfind *finder;
    assert_int_not_equal(srcfind_create(options, &finder), SRCFIND_OK);
    assert_non_null(strstr(srcfind_message(finder), word));
    srcfind_destroy(finder);
}

static void wrong_options(void **state) {
    struct srcfind_options o = srcfind_default_options();
    (void)state;
    o.kappa = 0;
    assert_refused(&o, "kappa");
    o = srcfind_default_options();
    o.threshold = NAN;
    assert_refused(&o, "threshold");
    o = srcfind_default_options();
    o.island = 6;
    assert_refused(&o, "island");
    o = srcfind_default_options();
    o.connectivity = 5;
    assert_refused(&o, "connectivity");
    o = srcfind_default_options();
    o.min_pixels = 0;
    assert_refused(&o, "min-pixels");
    o = srcfind_default_options();
    o.threads = -1;
    assert_refused(&o, "threads");
    o = srcfind_default_options();
    o.beam.major = 1;
    assert_refused(&o, "beam");
    o = srcfind_default_options();
    o.device_memory = -1;
    assert_refused(&o, "device-memory");
    o = srcfind_default_options();
    o.device = -4;
    assert_refused(&o, "device");
    o = srcfind_default_options();
    o.expected_pixels = -1;
    assert_refused(&o, "expected-pixels");
}

/* Refused at once where there is no CUDA, and else when it is first needed. */
static void missing_device(void **state) {
    struct srcfind_options options = srcfind_default_options();
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue = NULL;
    const float pixel = 1;
    (void)state;
    options.device = 1000;
    enum srcfind_status status = srcfind_create(&options, &finder);
    if (status == SRCFIND_OK)
        status = srcfind_find_pixels(finder, &pixel, 1, 1, 1, &catalogue);
    assert_int_equal(status, SRCFIND_ERROR_DEVICE);
    assert_non_null(strstr(srcfind_message(finder), "CUDA"));
    assert_false(srcfind_device_is_usable(finder));
    assert_null(catalogue);
    srcfind_destroy(finder);
}

/* The CPU does what is asked of it in any case, and says so. */
static void chosen_backend(void **state) {
    struct srcfind_options options = srcfind_default_options();
    struct random r = {3};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    (void)state;
    options.device = SRCFIND_DEVICE_CPU;
    struct srcfind_catalogue *c = find(p.pixels, WIDTH, &options);
    assert_string_equal(c->backend, "cpu");
    assert_string_equal(c->device, "");
    assert_string_equal(c->reason, "as asked");
    srcfind_catalogue_destroy(c);
    options.device = SRCFIND_DEVICE_AUTO;
    c = find(p.pixels, WIDTH, &options);
    assert_true(*c->reason);
    assert_int_equal(strcmp(c->backend, "cuda") == 0, *c->device != '\0');
    srcfind_catalogue_destroy(c);
    picture_free(&p);
}

static void wrong_shapes(void **state) {
    const struct srcfind_options options = srcfind_default_options();
    static const int64_t shapes[][3] = {{0, 5, 5}, {5, 0, 5}, {5, 5, 4}, {1LL << 31, 1, 1LL << 31}};
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    float pixel = 0;
    (void)state;
    srcfind_create(&options, &finder);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(srcfind_find_pixels(finder, &pixel, shapes[i][0], shapes[i][1],
                                             shapes[i][2], &catalogue),
                         SRCFIND_ERROR_OPTIONS);
        assert_null(catalogue);
    }
    srcfind_destroy(finder);
}

static int find_often(void *pixels) {
    struct srcfind_options options = srcfind_default_options();
    int64_t n = 0;
    options.threads = 2;
    for (int i = 0; i < 20; i++) {
        struct srcfind_catalogue *c = find(pixels, WIDTH, &options);
        n += c->n_sources;
        srcfind_catalogue_destroy(c);
    }
    return (int)n;
}

static void finders_in_threads(void **state) {
    struct random r = {2};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    thrd_t threads[4];
    int n[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(thrd_create(&threads[i], find_often, p.pixels), thrd_success);
    for (int i = 0; i < 4; i++)
        thrd_join(threads[i], &n[i]);
    assert_true(n[0] > 0 && n[0] == n[1] && n[1] == n[2] && n[2] == n[3]);
    picture_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides),        cmocka_unit_test(known_source),
        cmocka_unit_test(changed_rows),   cmocka_unit_test(wrong_options),
        cmocka_unit_test(missing_device), cmocka_unit_test(chosen_backend),
        cmocka_unit_test(wrong_shapes),   cmocka_unit_test(finders_in_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
