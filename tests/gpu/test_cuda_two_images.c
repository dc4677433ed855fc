/* detect-on and measure-in: a device gives the catalogues, Gaussians, tables of planes and maps of
 * the CPU, whether it keeps the images, or they only pass through. Skipped (exit status 77) if
 * there is no device. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "options.h"
#include "srcfind.h"
#include "temporary.h"
#include "unit.h"

enum { WIDTH = 1100, HEIGHT = 900, POINTS = 150, WIDE = 25, CARD = 80, BLOCK = 2880 };

/* The image for detection, whose noise is flat, and the image itself: the same sources, others of
 * their fluxes and other noise, seen through a primary beam. */
static char folder[TEMPORARY_PATH], flat_path[TEMPORARY_PATH + 16], image_path[TEMPORARY_PATH + 16];

/* Images of one value: blank, and zero. */
static char blank_path[TEMPORARY_PATH + 16], zero_path[TEMPORARY_PATH + 16];

static void add_gaussian(float *pixels, double x, double y, double peak, double sigma) {
    const int reach = (int)(5 * sigma) + 1, x0 = (int)x, y0 = (int)y;
    for (int j = y0 - reach > 0 ? y0 - reach : 0; j < HEIGHT && j <= y0 + reach; j++)
        for (int i = x0 - reach > 0 ? x0 - reach : 0; i < WIDTH && i <= x0 + reach; i++) {
            const double square = (i - x) * (i - x) + (j - y) * (j - y);
            pixels[j * WIDTH + i] += (float)(peak * exp(-square / (2 * sigma * sigma)));
        }
}

/* Adds a source to both images; every third one is another one in each. */
static void add_source(struct random *r, int k, double peak, double sigma, float *flat,
                       float *image) {
    const double x = random_unit(r) * WIDTH, y = random_unit(r) * HEIGHT;
    const double sign = k % 4 == 3 ? -1 : 1;
    add_gaussian(flat, x, y, sign * peak, sigma);
    add_gaussian(image, x, y, sign * peak * (k % 3 == 0 ? 2 * random_unit(r) : 1), sigma);
}

static void make_pixels(float *flat, float *image) {
    struct random r = {7};
    for (int k = 0; k < WIDTH * HEIGHT; k++) {
        flat[k] = (float)random_normal(&r);
        image[k] = flat[k] + 0.5F * (float)random_normal(&r);
    }
    for (int k = 0; k < POINTS; k++)
        add_source(&r, k, 6 + 60 * random_unit(&r), 2, flat, image);
    for (int k = 0; k < WIDE; k++)
        add_source(&r, k, 0.5 + 2 * random_unit(&r), 8 + 12 * random_unit(&r), flat, image);
    for (int k = 0; k < WIDTH * HEIGHT; k++) {
        const double x = (k % WIDTH) / (double)WIDTH - 0.5, y = (k / WIDTH) / (double)HEIGHT - 0.5;
        image[k] *= (float)exp(2 * (x * x + y * y));
    }
    for (int k = 0; k < 5 * WIDTH; k++) /* blank in one of them */
        (k % 2 ? flat : image)[k] = NAN;
}

static void write_image(const char *path, const float *pixels) {
    static const char *const cards[] = {
        "SIMPLE  =                    T", "BITPIX  =                  -32",
        "NAXIS   =                    2", "NAXIS1  =                 1100",
        "NAXIS2  =                  900", "BUNIT   = 'JY/BEAM '",
        "BMAJ    =               0.0026", "BMIN    =               0.0024",
        "BPA     =                 30.0", "CTYPE1  = 'RA---SIN'",
        "CTYPE2  = 'DEC--SIN'",           "CRVAL1  =                 50.0",
        "CRVAL2  =                 20.0", "CRPIX1  =                550.0",
        "CRPIX2  =                450.0", "CDELT1  =              -0.0005",
        "CDELT2  =               0.0005", "END"};
    char header[BLOCK];
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    memset(header, ' ', sizeof header);
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        memcpy(header + i * CARD, cards[i], strlen(cards[i]));
    assert_int_equal(fwrite(header, 1, sizeof header, stream), sizeof header);
    for (int k = 0; k < WIDTH * HEIGHT; k++) {
        uint32_t bits;
        memcpy(&bits, &pixels[k], sizeof bits);
        bits = __builtin_bswap32(bits);
        assert_int_equal(fwrite(&bits, sizeof bits, 1, stream), 1);
    }
    for (int64_t n = WIDTH * (int64_t)HEIGHT * 4; n % BLOCK; n++)
        fputc(0, stream);
    assert_int_equal(fclose(stream), 0);
}

static void write_value(const char *path, float *pixels, float value) {
    for (int k = 0; k < WIDTH * HEIGHT; k++)
        pixels[k] = value;
    write_image(path, pixels);
}

static int make_images(void **state) {
    float *flat = malloc(sizeof *flat * WIDTH * HEIGHT);
    float *image = malloc(sizeof *image * WIDTH * HEIGHT);
    (void)state;
    assert_true(flat && image && temporary_directory(folder));
    snprintf(flat_path, sizeof flat_path, "%s/flat.fits", folder);
    snprintf(image_path, sizeof image_path, "%s/image.fits", folder);
    snprintf(blank_path, sizeof blank_path, "%s/blank.fits", folder);
    snprintf(zero_path, sizeof zero_path, "%s/zero.fits", folder);
    make_pixels(flat, image);
    write_image(flat_path, flat);
    write_image(image_path, image);
    write_value(blank_path, image, NAN);
    write_value(zero_path, image, 0);
    free(flat);
    free(image);
    return 0;
}

static int remove_images(void **state) {
    (void)state;
    return unlink(flat_path) || unlink(image_path) || unlink(blank_path) || unlink(zero_path) ||
           rmdir(folder);
}

/* Adds the bytes of a map, as numbers, if the search has it. */
static void add_map(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                    const char *name, FILE *stream) {
    const size_t n = WIDTH * (size_t)HEIGHT;
    uint32_t *values = malloc(n * sizeof *values);
    if (srcfind_catalogue_map(finder, catalogue, NULL, name, values) == SRCFIND_OK) {
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++)
            sum = sum * 0x100000001b3 + values[i];
        fprintf(stream, "%s %016llx\n", name, (unsigned long long)sum);
    }
    free(values);
}

/* What the search has found: the rows, the Gaussians, the planes, the clip of the image and all
 * maps. */
static char *search(const struct srcfind_options *options, const char *backend, int64_t *n) {
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    const struct srcfind_catalogue *tables[2];
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    if (srcfind_find_file(finder, image_path, &catalogue) != SRCFIND_OK)
        fail_msg("%s", srcfind_message(finder));
    *n = srcfind_catalogue_size(catalogue);
    assert_string_equal(srcfind_catalogue_run(catalogue)->backend, backend);
    assert_int_equal(srcfind_catalogue_write(finder, catalogue, "json", stream), SRCFIND_OK);
    tables[0] = srcfind_catalogue_gaussians(catalogue);
    tables[1] = srcfind_catalogue_planes(catalogue);
    for (int i = 0; i < 2; i++)
        if (tables[i])
            assert_int_equal(srcfind_catalogue_write(finder, tables[i], "csv", stream), SRCFIND_OK);
    for (int i = 0; srcfind_map(i); i++)
        if (strcmp(srcfind_map(i), "picture") != 0)
            add_map(finder, catalogue, srcfind_map(i), stream);
    fclose(stream);
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    return text;
}

/* Options, and the least number of sources that they find. */
struct set {
    const char *options[5][2];
    int64_t least;
};

static const struct set sets_of_two_images[] = {
    {{{NULL}}, 80},
    {{{"island", "3"}, {"connectivity", "8"}, {"min-pixels", "4"}}, 80},
    {{{"local", "yes"}, {"island", "3"}, {"deblend", "yes"}}, 80},
    {{{"fit", "yes"}, {"background", "0"}}, 80},
    {{{"local", "yes"}, {"island", "3"}, {"fit", "yes"}, {"negative", "yes"}}, 120},
    {{{"island", "3"}, {"scales", "2,5"}, {"rms", "1"}}, 80},
    {{{"local", "yes"}, {"island", "3"}, {"scales", "2,4,8"}, {"negative", "yes"}}, 120},
    {{{"rms-box", "90,30"}, {"scales", "1.5"}, {"shapes", "beam"}, {"blank", "0"}}, 80},
};

static const struct set sets_of_planes[] = {
    {{{"island", "3"}}, 80},
    {{{"local", "yes"}, {"island", "3"}, {"negative", "yes"}}, 120},
    {{{"island", "3"}, {"scales", "2,5"}, {"rms", "2"}}, 80},
    {{{"rms-box", "90,30"}, {"background", "0"}, {"blank", "0"}}, 80},
};

/* Asserts that a device, which may use so many MiB, has the results of the CPU with an option that
 * names other images. */
static void assert_same(const struct set *set, const char *option, const char *images,
                        const char *memory) {
    struct srcfind_options *options =
        options_with(option, images, "device", "cpu", "threads", "4", NULL);
    int64_t n, n_of_device;
    for (int i = 0; set->options[i][0]; i++) {
        print_message("%s=%s ", set->options[i][0], set->options[i][1]);
        assert_int_equal(srcfind_options_set(options, set->options[i][0], set->options[i][1]),
                         SRCFIND_OK);
    }
    char *expected = search(options, "cpu", &n);
    print_message("memory=%s: %d sources\n", memory, (int)n);
    srcfind_options_set(options, "device", "0");
    srcfind_options_set(options, "device-memory", memory);
    char *found = search(options, "cuda", &n_of_device);
    assert_in_range(n, set->least, POINTS + 3 * WIDE);
    assert_int_equal(n_of_device, n);
    assert_string_equal(found, expected);
    free(found);
    free(expected);
    srcfind_options_destroy(options);
}

static void assert_all_same(const char *memory) {
    char planes[4 * sizeof flat_path];
    snprintf(planes, sizeof planes, "%s,%s,%s,%s", flat_path, blank_path, zero_path, image_path);
    for (size_t i = 0; i < sizeof sets_of_two_images / sizeof *sets_of_two_images; i++)
        assert_same(&sets_of_two_images[i], "detect-on", flat_path, memory);
    for (size_t i = 0; i < sizeof sets_of_planes / sizeof *sets_of_planes; i++)
        assert_same(&sets_of_planes[i], "measure-in", planes, memory);
}

static void kept_images(void **state) {
    (void)state;
    assert_all_same("1000");
}

/* Of images of 4 MiB, beside which fits want 64 MiB; the samples of scales are kept. */
static void streamed_images(void **state) {
    (void)state;
    assert_all_same("40");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_images),
        cmocka_unit_test(streamed_images),
    };
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
        printf("skipped: there is no CUDA device\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, make_images, remove_images);
}
