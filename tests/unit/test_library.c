/* The public calls: options, pixels in memory, catalogues. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

#include "common/texts.h"
#include "options.h"
#include "options/options.h"
#include "output/picture/picture.h"
#include "output/products.h"
#include "output/writer.h"
#include "srcfind.h"
#include "temporary.h"
#include "unit.h"

enum { WIDTH = 120, HEIGHT = 90, STRIDE = 131 };

static struct srcfind_catalogue *find(const struct srcfind_pixels *pixels,
                                      const struct srcfind_options *options) {
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue = NULL;
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_pixels(finder, pixels, &catalogue), SRCFIND_OK);
    srcfind_destroy(finder);
    return catalogue;
}

static char *text_of(const struct srcfind_catalogue *catalogue, const char *format) {
    struct srcfind *finder;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    srcfind_create(NULL, &finder);
    assert_int_equal(srcfind_catalogue_write(finder, catalogue, format, stream), SRCFIND_OK);
    fclose(stream);
    srcfind_destroy(finder);
    return text;
}

/* --- options --- */

static void all_options_have_a_round_trip(void **state) {
    static const char *const given[][2] = {{"kappa", "2.5"},
                                           {"threshold", "6.1"},
                                           {"island", "3.3000000000000003"},
                                           {"island", "3"},
                                           {"background", "zero"},
                                           {"connectivity", "8"},
                                           {"min-pixels", "3"},
                                           {"beam", "10.1,7,40.3"},
                                           {"hdu", "SCI"},
                                           {"plane", "2,7"},
                                           {"plane", "mean"},
                                           {"plane", "mean:3-3"},
                                           {"trim", "3,20,1,1"},
                                           {"device", "all"},
                                           {"device", "3"},
                                           {"device-memory", "100"},
                                           {"threads", "5"},
                                           {"local", "yes"},
                                           {"rms-box", "60,20"},
                                           {"rms", "0.25"},
                                           {"blank", "-0.5"},
                                           {"rms-map", "a/rms.fits"},
                                           {"mask", "masks"},
                                           {"mask-noise", "yes"},
                                           {"regions-as", "mask"},
                                           {"detect-on", "flat.fits"},
                                           {"detect-rms-map", "flat.rms.fits"},
                                           {"detect-background-map", "flat.bkg.fits"},
                                           {"measure-in", "a,,b.fits,c.fits"},
                                           {"background-map", "b.fits"},
                                           {"negative", "yes"},
                                           {"completeness", "500"},
                                           {"seed", "17"},
                                           {"inject", "deep/c.fits"},
                                           {"deblend", "yes"},
                                           {"survey", "yes"},
                                           {"fit", "yes"},
                                           {"contrast", "1.5"},
                                           {"group", "0"},
                                           {"group", "7.5"},
                                           {"group", "island"},
                                           {"shapes", "free"},
                                           {"psf", "measured"},
                                           {"flux-error", "2.5"},
                                           {"position-error", "0.01"},
                                           {"scales", "1.5,4"},
                                           {"at", "a/b.csv"},
                                           {"at-all", "yes"},
                                           {"at-fixed", "yes"},
                                           {"at-positive", "yes"},
                                           {"at-search", "yes"},
                                           {"sort", "snr"},
                                           {"mask-dilate", "3"},
                                           {"mask-fill", "yes"},
                                           {"patches", "island"},
                                           {"spectral-index", "-0.7"}};
    struct srcfind_options *options = srcfind_options_create();
    (void)state;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        assert_int_equal(srcfind_options_set(options, given[i][0], given[i][1]), SRCFIND_OK);
        assert_option(options, given[i][0], given[i][1]);
    }
    struct srcfind_options *copy = srcfind_options_copy(options);
    for (int i = 0; srcfind_option(i); i++) {
        char value[256];
        const char *name = srcfind_option(i)->name;
        const int length = srcfind_options_get(options, name, value, sizeof value);
        assert_true(length > 0 && length < (int)sizeof value); /* all of them were given above */
        assert_option(copy, name, value);
        assert_int_equal(srcfind_options_set(copy, name, value), SRCFIND_OK);
        assert_option(copy, name, value);
    }
    srcfind_options_destroy(copy);
    srcfind_options_destroy(options);
}

/* --survey sets three options, but for an island that was given; what is set after it holds. */
static void survey_stands_for_three_options(void **state) {
    struct srcfind_options *options = options_with("survey", "no", NULL);
    (void)state;
    assert_option(options, "local", "");
    srcfind_options_set(options, "survey", NULL);
    assert_option(options, "local", "yes");
    assert_option(options, "island", "3");
    assert_option(options, "fit", "yes");
    assert_option(options, "survey", "yes");
    srcfind_options_set(options, "local", "no");
    assert_option(options, "local", "");
    assert_option(options, "survey", "");
    srcfind_options_destroy(options);
    options = options_with("island", "4", "survey", "yes", NULL);
    assert_option(options, "island", "4");
    assert_option(options, "fit", "yes");
    assert_int_equal(srcfind_options_set(options, "survey", "maybe"), SRCFIND_ERROR_OPTIONS);
    srcfind_options_destroy(options);
}

static void defaults(void **state) {
    struct srcfind_options *options = srcfind_options_create();
    (void)state;
    for (int i = 0; srcfind_option(i); i++) {
        const struct srcfind_option *o = srcfind_option(i);
        assert_option(options, o->name, o->initial ? o->initial : "");
    }
    srcfind_options_set(options, "beam", "10");
    assert_option(options, "beam", "10,10,0");
    srcfind_options_destroy(options);
}

/* A value that does not fit is cut, and its length tells that. */
static void values_and_their_buffers(void **state) {
    struct srcfind_options *options = options_with("hdu", "SCI", NULL);
    char value[8] = "-------";
    (void)state;
    assert_int_equal(srcfind_options_get(options, "hdu", value, 4), 3);
    assert_memory_equal(value, "SCI\0---", 8);
    assert_int_equal(srcfind_options_get(options, "hdu", value, 3), 3);
    assert_memory_equal(value, "SC\0\0---", 8);
    assert_int_equal(srcfind_options_get(options, "hdu", NULL, 0), 3);
    assert_int_equal(srcfind_options_get(options, "no-such", value, sizeof value), -1);
    assert_string_equal(value, "");
    assert_int_equal(srcfind_options_get(options, "no-such", NULL, 0), -1);
    srcfind_options_destroy(options);
}

/* What is wrong is refused with a message that names the option, and changes nothing. */
static void wrong_options(void **state) {
    static const char *const wrong[][2] = {{"kappa", "0"},
                                           {"kappa", "nan"},
                                           {"threshold", "-1"},
                                           {"threshold", "5x"},
                                           {"island", "inf"},
                                           {"background", "mean"},
                                           {"connectivity", "6"},
                                           {"min-pixels", "0"},
                                           {"beam", "1,2,0"},
                                           {"beam", "1,1"},
                                           {"beam", "0"},
                                           {"beam", "1,1,1,1"},
                                           {"hdu", ""},
                                           {"plane", "0"},
                                           {"plane", "1,"},
                                           {"device", "-1"},
                                           {"device", "1024"},
                                           {"device", "gpu"},
                                           {"device-memory", "0"},
                                           {"threads", "0"},
                                           {"threads", "4097"},
                                           {"local", "maybe"},
                                           {"rms-box", "7"},
                                           {"rms-box", "30,31"},
                                           {"rms", "0"},
                                           {"blank", "x"},
                                           {"blank", "nan"},
                                           {"no-such", "1"},
                                           {"contrast", "0"},
                                           {"contrast", "-1"},
                                           {"shapes", "Beam"},
                                           {"shapes", ""},
                                           {"at", ""},
                                           {"fit", "1"}};
    struct srcfind_options *options = srcfind_options_create();
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(srcfind_options_set(options, wrong[i][0], wrong[i][1]),
                         SRCFIND_ERROR_OPTIONS);
        assert_non_null(strstr(srcfind_options_message(options), wrong[i][0]));
    }
    assert_int_equal(srcfind_options_set(options, "island", NULL), SRCFIND_ERROR_OPTIONS);
    assert_string_equal(srcfind_options_message(options), "island: the value is NULL: give a text");
    assert_int_equal(srcfind_options_set(options, "plane", "all"), SRCFIND_ERROR_OPTIONS);
    assert_non_null(
        strstr(srcfind_options_message(options), "only the command has ranges and all"));
    assert_int_equal(srcfind_options_set(options, NULL, "3"), SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_options_message(options), "NULL"));
    assert_int_equal(srcfind_options_get(options, NULL, NULL, 0), -1);
    for (int i = 0; srcfind_option(i); i++) {
        const struct srcfind_option *o = srcfind_option(i);
        assert_option(options, o->name, o->initial ? o->initial : "");
    }
    srcfind_options_destroy(options);
}

/* A limit of the stack that a search might pass, here and in the threads, is an error. */
static void small_stack(void **state) {
    struct rlimit before;
    struct srcfind *finder;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
    struct rlimit small = before;
    small.rlim_cur = 300 << 10;
    assert_int_equal(setrlimit(RLIMIT_STACK, &small), 0);
    const enum srcfind_status status = srcfind_create(NULL, &finder);
    assert_int_equal(setrlimit(RLIMIT_STACK, &before), 0);
    assert_int_equal(status, SRCFIND_ERROR_MEMORY);
    assert_string_equal(srcfind_message(finder),
                        "the stack is limited to 300 KiB, and 512 are needed: raise the limit with "
                        "`ulimit -s 8192`");
    srcfind_destroy(finder);
}

/* --shapes fits sources; this and --contrast divide islands, too; the contrast that is not given is
 * 1. */
static void implied_options(void **state) {
    struct error error;
    struct options o;
    (void)state;
    options_default(&o);
    assert_true(!options_deblend(&o) && options_contrast(&o) == 1);
    assert_int_equal(options_set(&o, "contrast", "0.5", &error), SRCFIND_OK);
    assert_true(options_deblend(&o) && options_contrast(&o) == 0.5 && !o.deblend);
    for (int i = 0; i < 2; i++) {
        options_default(&o);
        assert_int_equal(options_set(&o, i ? "fit" : "deblend", "yes", &error), SRCFIND_OK);
        assert_true(options_deblend(&o) && options_contrast(&o) == 1 &&
                    options_fit(&o) == (i == 1));
    }
    for (int i = 0; i < 3; i++) {
        static const char *const shapes[] = {"auto", "free", "beam"};
        options_default(&o);
        assert_true(!options_fit(&o));
        assert_int_equal(options_set(&o, "shapes", shapes[i], &error), SRCFIND_OK);
        assert_true(options_fit(&o) && options_deblend(&o) && !o.fit);
    }
}

/* The values of the first option of the command that has a type. */
static const char *values_of(const char *wanted) {
    static const struct {
        const char *type, *values;
    } options[] = {
#define SEARCH_OPTION(name, letter, argument, type, member, initial, values, help, groups)
#define MACRO_OPTION(name, letter, argument, type, member, initial, values, help, groups)
#define MACHINE_OPTION(name, letter, argument, type, member, initial, values, help, groups)
#define COMMAND_OPTION(name, letter, argument, type, member, initial, values, help, groups)        \
    {#type, values},
#include "options/options.inc"
#undef SEARCH_OPTION
#undef MACHINE_OPTION
#undef MACRO_OPTION
#undef COMMAND_OPTION
    };
    size_t i = 0;
    while (strcmp(options[i].type, wanted) != 0)
        assert_true(++i < sizeof options / sizeof *options);
    return options[i].values;
}

/* --save takes all maps, and the tables that have no option of their own. */
static void names_of_maps(void **state) {
    char names[256] = "";
    (void)state;
    for (int map = 0; map < MAPS; map++) {
        assert_string_equal(srcfind_map(map), map_products[map].name);
        assert_string_equal(srcfind_map_suffix(map), map_products[map].suffix);
        texts_append(names, sizeof names, "%s|", map_products[map].name);
    }
    for (enum table_id table = TABLE_GAUSSIANS; table <= TABLE_COVARIANCES; table++)
        texts_append(names, sizeof names, "%s|", table_products[table].name);
    texts_append(names, sizeof names, "help");
    assert_null(srcfind_map(MAPS));
    assert_string_equal(values_of("SAVED"), names);
}

/* --format takes all formats, by their names and other names. */
static void names_of_formats(void **state) {
    char names[256] = "";
    (void)state;
    for (int i = 0; i < n_writers; i++) {
        texts_append(names, sizeof names, "%s|", writers[i]->format.name);
        if (writers[i]->alias)
            texts_append(names, sizeof names, "%s|", writers[i]->alias);
    }
    texts_append(names, sizeof names, "help");
    assert_string_equal(values_of("FORMAT"), names);
}

/* A path may have any length; a copy of the options has its own, and keeps it. */
static void paths_of_any_length(void **state) {
    static const char *const names[] = {"rms-map",   "background-map", "mask",
                                        "detect-on", "detect-rms-map", "detect-background-map",
                                        "at",        "measure-in"};
    enum { LENGTH = 100000 };
    char *path = malloc(LENGTH + 1), *read = malloc(LENGTH + 1);
    (void)state;
    memset(path, 'p', LENGTH);
    path[LENGTH] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct srcfind_options *options = srcfind_options_create();
        assert_int_equal(srcfind_options_set(options, names[i], "short"), SRCFIND_OK);
        assert_int_equal(srcfind_options_set(options, names[i], path), SRCFIND_OK);
        assert_int_equal(srcfind_options_set(options, names[i], ""), SRCFIND_ERROR_OPTIONS);
        struct srcfind_options *copy = srcfind_options_copy(options);
        assert_int_equal(srcfind_options_set(options, names[i], "other"), SRCFIND_OK);
        srcfind_options_destroy(options);
        assert_int_equal(srcfind_options_get(copy, names[i], read, LENGTH + 1), LENGTH);
        assert_string_equal(read, path);
        srcfind_options_destroy(copy);
    }
    free(path);
    free(read);
}

/* A list has any number of files, also from a list file; its text gives it again. */
static void lists_of_files(void **state) {
    enum { N = 500, LENGTH = 300 };
    char directory[TEMPORARY_PATH], file[TEMPORARY_PATH + 16], given[TEMPORARY_PATH + 32];
    char *text = calloc(N, LENGTH + 4), *read = calloc(N, LENGTH + 4), *to = text;
    (void)state;
    assert_true(temporary_directory(directory));
    snprintf(file, sizeof file, "%s/list", directory);
    snprintf(given, sizeof given, "first,@%s,./@last", file);
    FILE *stream = fopen(file, "w");
    to += sprintf(to, "first,./@x");
    fprintf(stream, "@x\n\n");
    for (int i = 0; i < N; i++) {
        to += sprintf(to, ",%0*d,,", LENGTH, i);
        fprintf(stream, "%0*d,\r\n", LENGTH, i);
    }
    sprintf(to, ",./@last");
    fclose(stream);
    struct srcfind_options *options = options_with("measure-in", "other", NULL);
    assert_int_equal(srcfind_options_set(options, "measure-in", given), SRCFIND_OK);
    unlink(file);
    assert_int_equal(srcfind_options_set(options, "measure-in", given), SRCFIND_ERROR_OPTIONS);
    const int length = srcfind_options_get(options, "measure-in", read, (size_t)N * (LENGTH + 4));
    assert_int_equal(length, strlen(text));
    assert_string_equal(read, text);
    struct srcfind_options *copy = srcfind_options_copy(options);
    srcfind_options_destroy(options);
    assert_int_equal(srcfind_options_set(copy, "measure-in", text), SRCFIND_OK);
    srcfind_options_get(copy, "measure-in", read, (size_t)N * (LENGTH + 4));
    assert_string_equal(read, text);
    srcfind_options_destroy(copy);
    free(text);
    free(read);
    assert_int_equal(rmdir(directory), 0);
}

/* Positions that are given are neither negative nor in islands that could be divided. */
static void positions_that_are_given(void **state) {
    static const struct {
        const char *name, *value, *other, *message;
    } known[] = {
        {"kappa", "3", "kappa", NULL},
        {"fit", "yes", "kappa", NULL},
        {"deblend", "yes", "fit", NULL},
        {"negative", "yes", "kappa", "leave --negative out"},
        {"negative", "yes", "fit", "leave --negative out"},
        {"deblend", "yes", "kappa", "leave --deblend out, or add --fit"},
        {"contrast", "2", "kappa", "leave --contrast out, or add --fit"},
        {"shapes", "auto", "kappa", "leave --shapes out"},
        {"shapes", "free", "fit", "leave --shapes out"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct srcfind_options *o =
            options_with("at", "c.csv", known[i].name, known[i].value, known[i].other,
                         strcmp(known[i].other, "fit") == 0 ? "yes" : "3", NULL);
        assert_int_equal(srcfind_options_check(o),
                         known[i].message ? SRCFIND_ERROR_OPTIONS : SRCFIND_OK);
        if (known[i].message) {
            assert_memory_equal(srcfind_options_message(o), "at: ", 4);
            assert_non_null(strstr(srcfind_options_message(o), known[i].message));
        }
        srcfind_options_destroy(o);
    }
}

static void island_above_threshold(void **state) {
    struct srcfind_options *options = options_with("island", "6", NULL);
    struct srcfind *finder;
    (void)state;
    assert_int_equal(srcfind_options_check(options), SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_options_message(options), "island"));
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_ERROR_OPTIONS);
    assert_string_equal(srcfind_message(finder), srcfind_options_message(options));
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
}

/* --- pixels --- */

static void assert_same_texts(const struct srcfind_catalogue *a,
                              const struct srcfind_catalogue *b) {
    for (int i = 0; srcfind_format(i); i++) {
        if (writers[i]->is_sky_model) /* without a fit there is none */
            continue;
        char *first = text_of(a, srcfind_format(i)->name);
        char *second = text_of(b, srcfind_format(i)->name);
        assert_string_equal(first, second);
        free(first);
        free(second);
    }
}

static void strides_and_byte_orders(void **state) {
    struct random r = {1};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    float *spaced = calloc((size_t)STRIDE * HEIGHT, sizeof *spaced);
    struct srcfind_pixels pixels = pixels_of(&p);
    (void)state;
    struct srcfind_catalogue *expected = find(&pixels, NULL);
    assert_true(srcfind_catalogue_size(expected) > 10);
    for (int swapped = 0; swapped < 2; swapped++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < STRIDE; x++) {
                const uint32_t bits = exact_bits(x < WIDTH ? p.pixels[y * WIDTH + x] : 1e30f);
                spaced[y * STRIDE + x] = exact_float(swapped ? __builtin_bswap32(bits) : bits);
            }
        }
        pixels.values = spaced;
        pixels.row_stride = STRIDE;
        pixels.swapped = swapped;
        struct srcfind_catalogue *found = find(&pixels, NULL);
        assert_same_texts(found, expected);
        srcfind_catalogue_destroy(found);
    }
    srcfind_catalogue_destroy(expected);
    free(spaced);
    picture_free(&p);
}

/* A program that was built with a shorter struct does not say what is behind it. */
static void struct_of_an_older_program(void **state) {
    struct random r = {1};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    (void)state;
    struct srcfind_catalogue *expected = find(&pixels, NULL);
    pixels.size = offsetof(struct srcfind_pixels, row_stride);
    pixels.row_stride = 1;
    pixels.swapped = true;
    pixels.header = "nonsense";
    struct srcfind_catalogue *found = find(&pixels, NULL);
    assert_same_texts(found, expected);
    srcfind_catalogue_destroy(found);
    srcfind_catalogue_destroy(expected);
    picture_free(&p);
}

/* One source whose numbers are plain. */
static void known_source(void **state) {
    static float values[WIDTH * HEIGHT];
    const struct srcfind_pixels pixels = {
        .size = sizeof pixels, .values = values, .width = WIDTH, .height = HEIGHT};
    struct srcfind_options *options = options_with("connectivity", "8", NULL);
    (void)state;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        values[i] = i % 2 ? 1 : -1;
    values[10 * WIDTH + 20] = 100;
    values[10 * WIDTH + 21] = 300;
    struct srcfind_catalogue *c = find(&pixels, options);
    const struct srcfind_background *b = srcfind_catalogue_background(c);
    assert_int_equal(srcfind_catalogue_size(c), 1);
    assert_true(b->rms == 1 && b->median == 0);
    const struct srcfind_source *s = srcfind_catalogue_source(c, 0);
    assert_true(s->x == 20.75 && s->y == 10);
    assert_true(s->pixel_sum == 400 && s->peak_flux == 300 && s->snr == 300);
    assert_int_equal(s->x_peak, 21);
    assert_int_equal(s->n_pixels, 2);
    assert_int_equal(s->flags,
                     SRCFIND_FLAG_NO_BEAM | SRCFIND_FLAG_NO_SHAPE | SRCFIND_FLAG_UNCERTAIN_TOTAL);
    assert_true(isnan(s->lon) && isnan(s->major));
    srcfind_catalogue_destroy(c);
    srcfind_options_destroy(options);
}

/* The negative sources of an image are the sources of its negative, in either byte order. */
static void negative_sources(void **state) {
    struct random r = {1};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    struct srcfind_options *options = options_with("negative", "yes", NULL);
    (void)state;
    struct srcfind_catalogue *positive = find(&pixels, NULL);
    const int64_t n = srcfind_catalogue_size(positive);
    assert_true(n > 10 && srcfind_catalogue_negatives(positive) == 0);
    for (int swapped = 0; swapped < 2; swapped++) {
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            const uint32_t bits = exact_bits(swapped ? p.pixels[i] : -p.pixels[i]);
            p.pixels[i] = exact_float(swapped ? __builtin_bswap32(bits) : bits);
        }
        pixels.swapped = swapped;
        struct srcfind_catalogue *c = find(&pixels, options);
        const int64_t n_before = srcfind_catalogue_size(c) - srcfind_catalogue_negatives(c);
        assert_int_equal(srcfind_catalogue_negatives(c), n);
        for (int64_t i = 0; i < n; i++) {
            const struct srcfind_source *s = srcfind_catalogue_source(c, n_before + i);
            const struct srcfind_source *expected = srcfind_catalogue_source(positive, i);
            assert_int_equal(s->id, n_before + i + 1);
            assert_true(s->flags == (expected->flags | SRCFIND_FLAG_NEGATIVE));
            assert_true(s->peak_flux == -expected->peak_flux && s->snr == -expected->snr);
            assert_true(s->pixel_sum == -expected->pixel_sum && s->x == expected->x);
            assert_true(s->e_total_flux == expected->e_total_flux);
        }
        srcfind_catalogue_destroy(c);
    }
    srcfind_catalogue_destroy(positive);
    srcfind_options_destroy(options);
    picture_free(&p);
}

/* Noise, and pairs of points that overlap, every second one of which is negative. */
static void draw_pairs(struct picture *p, struct random *r) {
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const double dx = x % 20 - 10, dy = y % 20 - 10, sign = (x / 20 + y / 20) % 2 ? -1 : 1;
            const double pair = exp(-(dx * dx + dy * dy) / 6) +
                                0.7 * exp(-((dx - 5) * (dx - 5) + (dy - 1) * (dy - 1)) / 6);
            p->pixels[y * WIDTH + x] = (float)(random_unit(r) + 30 * sign * pair);
        }
    }
}

/* The Gaussians of a fit: rows in the order of the sources, which have their sums. */
static void gaussians(void **state) {
    struct random r = {4};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    const struct srcfind_pixels pixels = pixels_of(&p);
    struct srcfind_options *options = options_with("negative", "yes", NULL);
    (void)state;
    draw_pairs(&p, &r);
    struct srcfind_catalogue *c = find(&pixels, options);
    assert_null(srcfind_catalogue_gaussians(c));
    srcfind_catalogue_destroy(c);
    srcfind_options_set(options, "group", "5");
    c = find(&pixels, options);
    const struct srcfind_catalogue *table = srcfind_catalogue_gaussians(c);
    assert_ptr_equal(srcfind_catalogue_gaussians(c), table);
    int64_t at = 0, n_several = 0, n_negative = 0;
    for (int64_t i = 0; i < srcfind_catalogue_size(c); i++) {
        const struct srcfind_source *source = srcfind_catalogue_source(c, i);
        double total = 0;
        for (int64_t k = 0; k < source->n_gaussians; k++, at++) {
            const struct srcfind_source *g = srcfind_catalogue_source(table, at);
            assert_true(g->gaussian_id == at + 1 && g->id == source->id);
            assert_int_equal(g->island_id, source->island_id);
            assert_true((g->flags ^ source->flags) % SRCFIND_FLAG_NEGATIVE == 0 || k > 0 ||
                        source->n_gaussians > 1);
            assert_true(g->isl_rms == source->isl_rms);
            total += g->total_flux;
            n_negative += g->flags / SRCFIND_FLAG_NEGATIVE % 2;
        }
        assert_true(fabs(total / source->total_flux - 1) < 1e-12);
        assert_true((source->n_gaussians > 1) == (*source->s_code == 'M'));
        n_several += source->n_gaussians > 1;
    }
    print_message("%d Gaussians, %d sources of several\n", (int)at, (int)n_several);
    assert_int_equal(srcfind_catalogue_size(table), at);
    assert_int_equal(srcfind_catalogue_negatives(table), n_negative);
    assert_true(n_several > 0 && n_negative > 0);
    assert_string_equal(srcfind_catalogue_column(table, 2)->name, "Gaus_id");
    srcfind_catalogue_destroy(c);
    srcfind_options_destroy(options);
    picture_free(&p);
}

/* --- geometry --- */

/* Cards as a file would have them. */
static char *cards(const char *const *lines) {
    char *text = calloc(4096, 1);
    for (; *lines; lines++)
        sprintf(text + strlen(text), "%-80s", *lines);
    return text;
}

static const char *const geometry[] = {
    "CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--SIN'", "CRPIX1  = 50",    "CRPIX2  = 60",
    "CRVAL1  = 150",        "CRVAL2  = 2",          "CDELT1  = -5E-4", "CDELT2  = 5E-4",
    "BUNIT   = 'mJy/beam'", "BMAJ    = 2.5E-3",     "BMIN    = 2E-3",  "BPA     = 30",
    "RADESYS = 'FK5'",      "EQUINOX = 2000",       "FREQ    = 1.4E9", NULL};

static void header_beside_pixels(void **state) {
    struct random r = {1};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    char *text = cards(geometry);
    (void)state;
    pixels.header = text;
    struct srcfind_catalogue *c = find(&pixels, NULL);
    const struct srcfind_image *image = srcfind_catalogue_image(c);
    const struct srcfind_source *s = srcfind_catalogue_source(c, 0);
    assert_string_equal(image->frame, "FK5");
    assert_string_equal(image->unit, "mJy/beam");
    assert_string_equal(image->flux_unit, "Jy");
    assert_string_equal(image->beam_source, "keywords");
    assert_true(image->frequency == 1.4e9 && image->beam.major == 2.5e-3);
    assert_true(fabs(image->beam_pixels - 22.661800709135969) < 1e-9); /* pi 5 4 / (4 ln 2) */
    assert_true(fabs(s->lat - (2 + (s->y + 1 - 60) * 5e-4)) < 1e-5);
    assert_true(fabs(s->isl_total_flux - 1e-3 * s->pixel_sum / image->beam_pixels) <
                1e-12 * s->isl_total_flux);
    assert_true(s->name[0] == 'J' && s->major > 0);
    assert_string_equal(srcfind_catalogue_column(c, 3)->name, "RA");
    assert_null(srcfind_catalogue_column(c, 1000));
    sprintf(text + strlen(text), "%-80sCTYPE1  = 'nonsense'", "END"); /* what follows is not read */
    struct srcfind_catalogue *again = find(&pixels, NULL);
    assert_same_texts(again, c);
    srcfind_catalogue_destroy(again);
    srcfind_catalogue_destroy(c);
    free(text);
    picture_free(&p);
}

/* A beam from the options goes with coordinates from the header. */
static void beam_from_the_options(void **state) {
    struct random r = {1};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    struct srcfind_options *options = options_with("beam", "18,9,0", NULL);
    char *text = cards(geometry);
    (void)state;
    pixels.header = text;
    struct srcfind_catalogue *c = find(&pixels, options);
    assert_string_equal(srcfind_catalogue_image(c)->beam_source, "option");
    assert_true(fabs(srcfind_catalogue_image(c)->beam.major - 0.005) < 1e-15);
    srcfind_catalogue_destroy(c);
    srcfind_options_destroy(options);
    free(text);
    picture_free(&p);
}

static void wrong_header(void **state) {
    struct random r = {1};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    (void)state;
    pixels.header = "CTYPE1  = 'RA---SIN'";
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_pixels(finder, &pixels, &catalogue), SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_message(finder), "cards of 80"));
    assert_null(catalogue);
    srcfind_destroy(finder);
    picture_free(&p);
}

/* --- devices, shapes, threads --- */

/* Refused at once where there is no CUDA, and else when it is first needed. */
static void missing_device(void **state) {
    struct srcfind_options *options = options_with("device", "1000", NULL);
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue = NULL;
    const float pixel = 1;
    const struct srcfind_pixels pixels = {
        .size = sizeof pixels, .values = &pixel, .width = 1, .height = 1};
    (void)state;
    enum srcfind_status status = srcfind_create(options, &finder);
    if (status == SRCFIND_OK)
        status = srcfind_find_pixels(finder, &pixels, &catalogue);
    assert_int_equal(status, SRCFIND_ERROR_DEVICE);
    assert_non_null(strstr(srcfind_message(finder), "CUDA"));
    assert_false(srcfind_device_is_usable(finder));
    assert_null(catalogue);
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
}

/* The CPU does what is asked of it in any case, and says so. */
static void chosen_backend(void **state) {
    struct srcfind_options *options = options_with("device", "cpu", NULL);
    struct random r = {3};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    const struct srcfind_pixels pixels = pixels_of(&p);
    (void)state;
    struct srcfind_catalogue *c = find(&pixels, options);
    const struct srcfind_run *run = srcfind_catalogue_run(c);
    assert_string_equal(run->backend, "cpu");
    assert_string_equal(run->device, "");
    assert_string_equal(run->reason, "as asked");
    srcfind_catalogue_destroy(c);
    srcfind_options_set(options, "device", "auto");
    c = find(&pixels, options);
    run = srcfind_catalogue_run(c);
    assert_true(*run->reason);
    assert_int_equal(strcmp(run->backend, "cuda") == 0, *run->device != '\0');
    srcfind_catalogue_destroy(c);
    srcfind_options_destroy(options);
    picture_free(&p);
}

static void wrong_shapes(void **state) {
    static const int64_t shapes[][3] = {{0, 5, 5}, {5, 0, 5}, {5, 5, 4}, {1LL << 31, 1, 1LL << 31}};
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    const float pixel = 0;
    (void)state;
    srcfind_create(NULL, &finder);
    for (int i = 0; i < 4; i++) {
        const struct srcfind_pixels pixels = {.size = sizeof pixels,
                                              .values = &pixel,
                                              .width = shapes[i][0],
                                              .height = shapes[i][1],
                                              .row_stride = shapes[i][2]};
        assert_int_equal(srcfind_find_pixels(finder, &pixels, &catalogue), SRCFIND_ERROR_OPTIONS);
        assert_null(catalogue);
    }
    srcfind_destroy(finder);
}

/* --- maps --- */

/* A map of pixels in memory; to be freed. */
static void *map_of(const struct srcfind_options *options, const struct srcfind_pixels *pixels,
                    const struct srcfind_catalogue *catalogue, const char *name) {
    struct srcfind *finder;
    int32_t *map = malloc((size_t)(pixels->width * pixels->height) * sizeof *map);
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_catalogue_map(finder, catalogue, pixels, name, map), SRCFIND_OK);
    srcfind_destroy(finder);
    return map;
}

/* Each source's highest pixel has its rms, background, SNR and number; outside of islands is 0.
 * Returns the number of negative sources. */
static int64_t check_maps(const struct srcfind_options *options,
                          const struct srcfind_pixels *pixels) {
    struct srcfind_catalogue *c = find(pixels, options);
    float *rms = map_of(options, pixels, c, "rms");
    float *background = map_of(options, pixels, c, "background");
    float *snr = map_of(options, pixels, c, "snr");
    int32_t *islands = map_of(options, pixels, c, "islands");
    int64_t n_outside = pixels->width * pixels->height;
    for (int64_t i = 0; i < srcfind_catalogue_size(c); i++) {
        const struct srcfind_source *s = srcfind_catalogue_source(c, i);
        const int64_t peak = s->y_peak * pixels->width + s->x_peak;
        assert_int_equal(islands[peak], s->island_id);
        assert_true(rms[peak] == (float)s->isl_rms && background[peak] == (float)s->isl_mean);
        assert_true(fabs((double)snr[peak] - s->snr) <= 1e-6 * fabs(s->snr));
        n_outside -= s->n_pixels;
    }
    for (int64_t i = 0; i < pixels->width * pixels->height; i++)
        n_outside -= islands[i] == 0;
    assert_int_equal(n_outside, 0);
    const int64_t n_negative = srcfind_catalogue_negatives(c);
    free(rms);
    free(background);
    free(snr);
    free(islands);
    srcfind_catalogue_destroy(c);
    return n_negative;
}

static void maps_of_pixels(void **state) {
    struct srcfind_options *plain = options_with("threads", "3", NULL);
    struct srcfind_options *others =
        options_with("negative", "yes", "rms-box", "30,10", "blank", "0.5", NULL);
    struct random r = {1};
    struct picture p = picture_make(5, 400, 300, &r); /* more than a chunk */
    struct srcfind_pixels pixels = pixels_of(&p);
    (void)state;
    for (int i = 0; i < 400 * 300; i += 2)
        p.pixels[i] = -p.pixels[i];
    for (int swapped = 0; swapped < 2; swapped++) {
        pixels.swapped = swapped;
        assert_int_equal(check_maps(plain, &pixels), 0);
        assert_true(check_maps(others, &pixels) > 10);
        for (int i = 0; i < 400 * 300; i++)
            p.pixels[i] = exact_float(__builtin_bswap32(exact_bits(p.pixels[i])));
    }
    srcfind_options_destroy(plain);
    srcfind_options_destroy(others);
    picture_free(&p);
}

/* Each source has as many pixels as it should; model and residual are what is left of a pixel. */
static void check_components(const struct srcfind_options *options,
                             const struct srcfind_pixels *pixels) {
    struct srcfind_catalogue *c = find(pixels, options);
    struct srcfind_pixels plain = *pixels;
    plain.header = NULL; /* the catalogue has what maps need of it */
    float *background = map_of(options, &plain, c, "background");
    float *model = map_of(options, &plain, c, "model");
    float *residual = map_of(options, &plain, c, "residual");
    int32_t *sources = map_of(options, &plain, c, "sources");
    const int64_t n = srcfind_catalogue_size(c);
    int64_t *n_pixels = calloc((size_t)n + 1, sizeof *n_pixels);
    for (int64_t i = 0; i < pixels->width * pixels->height; i++) {
        const double above = (double)pixels->values[i] - (double)background[i];
        assert_true(fabs(above - (double)model[i] - (double)residual[i]) < 1e-5);
        n_pixels[sources[i]]++;
    }
    assert_true(n > 30 && n_pixels[0] > 0);
    for (int64_t i = 0; i < n; i++) {
        const struct srcfind_source *s = srcfind_catalogue_source(c, i);
        const int64_t peak = s->y_peak * pixels->width + s->x_peak;
        assert_true(n_pixels[i + 1] == s->n_pixels && sources[peak] == s->id);
        assert_true((s->flags & SRCFIND_FLAG_NEGATIVE ? -1 : 1) * model[peak] > 1);
    }
    free(background);
    free(model);
    free(residual);
    free(sources);
    free(n_pixels);
    srcfind_catalogue_destroy(c);
}

static void maps_of_components(void **state) {
    struct srcfind_options *options =
        options_with("fit", "yes", "negative", "yes", "island", "3", NULL);
    struct random r = {1};
    struct picture p = picture_make(5, 300, 300, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    char *text = cards(geometry);
    (void)state;
    for (int i = 0; i < 300 * 300; i++)
        p.pixels[i] *= i / 300 % 38 < 19 ? 1 : -1; /* a row of sources in turn */
    check_components(options, &pixels);
    pixels.header = text;
    check_components(options, &pixels);
    free(text);
    srcfind_options_destroy(options);
    picture_free(&p);
}

/* A pixel that is blank is NaN in the maps of the noise. */
static void blanks_in_maps(void **state) {
    float values[] = {1, 2, NAN, 4, 5, 0, 1, 2, 1, 2};
    struct srcfind_options *options = options_with("blank", "0", NULL);
    const struct srcfind_pixels pixels = {
        .size = sizeof pixels, .values = values, .width = 3, .height = 2, .row_stride = 5};
    struct srcfind_catalogue *c = find(&pixels, options);
    float *map = map_of(options, &pixels, c, "background");
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_true(i == 2 || i == 3 ? isnan(map[i]) : map[i] == 1.5F);
    free(map);
    srcfind_catalogue_destroy(c);
    srcfind_options_destroy(options);
}

static void wrong_maps(void **state) {
    struct random r = {1};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    struct srcfind_catalogue *c = find(&pixels, NULL);
    struct srcfind *finder;
    float map[1];
    (void)state;
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_catalogue_map(finder, c, &pixels, "rm", map), SRCFIND_ERROR_OPTIONS);
    assert_string_equal(srcfind_message(finder), "map: there is no map rm");
    assert_int_equal(srcfind_catalogue_map(finder, c, NULL, "rms", map), SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_message(finder), "give these pixels again"));
    assert_int_equal(srcfind_catalogue_map(finder, c, &pixels, "model", map),
                     SRCFIND_ERROR_OPTIONS);
    assert_string_equal(srcfind_message(finder), "map: model needs --fit");
    pixels.height--;
    assert_int_equal(srcfind_catalogue_map(finder, c, &pixels, "rms", map), SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_message(finder), "120 x 89 pixels, but"));
    srcfind_destroy(finder);
    srcfind_catalogue_destroy(c);
    picture_free(&p);
}

/* Saved maps are of images in files. */
static void maps_need_files(void **state) {
    struct srcfind_options *options = srcfind_options_create();
    struct srcfind_catalogue *catalogue = NULL;
    struct srcfind *finder;
    const float values[] = {1, 2, 3, 4, 5, 6};
    const struct srcfind_pixels pixels = {
        .size = sizeof pixels, .values = values, .width = 3, .height = 2};
    (void)state;
    assert_string_equal(srcfind_map(0), "rms");
    assert_null(srcfind_map(-1));
    assert_null(srcfind_map(MAPS));
    assert_string_equal(srcfind_map_suffix(0), ".fits");
    assert_string_equal(srcfind_map(MAP_PICTURE), "picture");
    assert_string_equal(srcfind_map_suffix(MAP_PICTURE), ".png");
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_pixels(finder, &pixels, &catalogue), SRCFIND_OK);
    assert_int_equal(srcfind_catalogue_save_map(finder, catalogue, "rms", "/dev/null"),
                     SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_message(finder), "images in files"));
    assert_int_equal(srcfind_catalogue_save_map(finder, catalogue, "rm", "/dev/null"),
                     SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_message(finder), "no map rm"));
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
    const char *const files[] = {"mask", "rms-map", "background-map", "detect-on"};
    for (int i = 0; i < 4; i++) {
        options = srcfind_options_create();
        srcfind_options_set(options, files[i], "file.fits");
        assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
        assert_int_equal(srcfind_find_pixels(finder, &pixels, &catalogue), SRCFIND_ERROR_INPUT);
        assert_non_null(strstr(srcfind_message(finder), "file.fits: No such file"));
        assert_null(catalogue);
        assert_int_equal(srcfind_find_device_pixels(finder, &pixels, NULL, &catalogue),
                         SRCFIND_ERROR_OPTIONS);
        assert_non_null(strstr(srcfind_message(finder), files[i]));
        assert_null(catalogue);
        srcfind_destroy(finder);
        srcfind_options_destroy(options);
    }
}

/* Each note is there, in its order, with the numbers of the image. */
static void notes_on_an_image(void **state) {
    static const char *const wanted[] = {"the beam is 1.5 pixels wide, less than two",
                                         "some 10% of the pixels are exactly 0"};
    struct random r = {2};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    char header[5 * 80 + 1];
    (void)state;
    memset(p.pixels, 0, sizeof *p.pixels * WIDTH * HEIGHT / 10);
    struct srcfind_catalogue *c = find(&pixels, NULL);
    assert_non_null(strstr(srcfind_catalogue_note(c, 0), wanted[1]));
    assert_null(srcfind_catalogue_note(c, 1));
    srcfind_catalogue_destroy(c);
    snprintf(header, sizeof header, "%-80s%-80s%-80s%-80s%-80s", "CTYPE1  = 'RA---SIN'",
             "CTYPE2  = 'DEC--SIN'", "CDELT1  = -1e-3", "CDELT2  = 1e-3", "BUNIT   = 'Jy/beam'");
    pixels.header = header;
    struct srcfind_options *options = options_with("beam", "5.4", NULL);
    c = find(&pixels, options);
    for (int i = 0; i < 2; i++)
        assert_non_null(strstr(srcfind_catalogue_note(c, i), wanted[i]));
    assert_null(srcfind_catalogue_note(c, 2));
    assert_null(srcfind_catalogue_note(c, 9));
    assert_null(srcfind_catalogue_note(c, -1));
    srcfind_catalogue_destroy(c);
    srcfind_options_destroy(options);
    picture_free(&p);
}

/* --- positions that are given --- */

/* Writes a catalogue of one position, and sets the time of the file. */
static void write_position(const char *path, const char *cells, time_t seconds) {
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fprintf(stream, "Xposn,Yposn\n%s\n", cells);
    fclose(stream);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static double measured_x(struct srcfind *finder, const struct srcfind_pixels *pixels) {
    struct srcfind_catalogue *catalogue;
    if (srcfind_find_pixels(finder, pixels, &catalogue) != SRCFIND_OK)
        fail_msg("%s", srcfind_message(finder));
    assert_int_equal(srcfind_catalogue_size(catalogue), 1);
    const double x = srcfind_catalogue_source(catalogue, 0)->x;
    srcfind_catalogue_destroy(catalogue);
    return x;
}

/* Finders of the same options read the catalogue once: the file changes here so that nobody can
 * tell. */
static void finders_share_positions(void **state) {
    struct random r = {2};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    const struct srcfind_pixels pixels = pixels_of(&p);
    char directory[TEMPORARY_PATH], path[TEMPORARY_PATH + 8];
    struct srcfind *finders[4];
    (void)state;
    assert_true(temporary_directory(directory));
    snprintf(path, sizeof path, "%s/at.csv", directory);
    struct srcfind_options *options = options_with("at", path, NULL);
    struct srcfind_options *copy = srcfind_options_copy(options);
    assert_int_equal(srcfind_create_many(options, 2, finders), SRCFIND_OK);
    assert_int_equal(srcfind_create(copy, &finders[2]), SRCFIND_OK);
    write_position(path, "3,4", 1000);
    assert_true(measured_x(finders[1], &pixels) == 3);
    write_position(path, "5,6", 1000);
    srcfind_options_destroy(options);
    assert_int_equal(srcfind_create(copy, &finders[3]), SRCFIND_OK);
    srcfind_options_destroy(copy);
    for (int i = 0; i < 4; i++)
        assert_true(measured_x(finders[i], &pixels) == 3);
    write_position(path, "5,6", 1001);
    for (int i = 0; i < 4; i++) {
        assert_true(measured_x(finders[i], &pixels) == 5);
        srcfind_destroy(finders[i]);
    }
    picture_free(&p);
    unlink(path);
    rmdir(directory);
}

static void formats(void **state) {
    struct random r = {2};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    const struct srcfind_pixels pixels = pixels_of(&p);
    struct srcfind_catalogue *c = find(&pixels, NULL);
    struct srcfind *finder;
    (void)state;
    char *csv = text_of(c, "CSV"), *first = text_of(c, NULL);
    char *reg = text_of(c, "reg"), *ds9 = text_of(c, "DS9");
    assert_string_equal(csv, first);
    assert_string_equal(reg, ds9);
    srcfind_create(NULL, &finder);
    assert_int_equal(srcfind_catalogue_write(finder, c, "xls", stdout), SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_message(finder), "xls"));
    srcfind_destroy(finder);
    free(csv);
    free(first);
    free(reg);
    free(ds9);
    srcfind_catalogue_destroy(c);
    picture_free(&p);
}

/* Writes an image of 60 x 40 zeros, and two pixels that are not: 8 and -8. */
static void write_image(const char *path) {
    static const char *const cards[] = {
        "SIMPLE  =                    T", "BITPIX  =                  -32",
        "NAXIS   =                    2", "NAXIS1  =                   60",
        "NAXIS2  =                   40", "END"};
    char bytes[5 * 2880] = {0}; /* the header, and the pixels with what fills their last block */
    memset(bytes, ' ', 2880);
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        memcpy(bytes + 80 * i, cards[i], strlen(cards[i]));
    bytes[2880] = 'A';
    bytes[2880 + 4 * 90] = '\xc1';
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, sizeof bytes, 1, stream), 1);
    assert_int_equal(fclose(stream), 0);
}

/* The width (0) or the height (1) that a PNG file says; 0 for another file. */
static unsigned png_size(const char *path, int axis) {
    unsigned char head[24] = {0};
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    const bool is_read = fread(head, sizeof head, 1, stream) == 1;
    fclose(stream);
    const unsigned char *size = head + 16 + 4 * axis;
    return is_read && memcmp(head, "\x89PNG", 4) == 0 ? size[2] * 256U + size[3] : 0;
}

/* Pictures are also of pixels in memory, as wide as is wanted; they replace pictures alone. */
static void pictures_of_pixels(void **state) {
    static const struct {
        int size;
        unsigned width, height; /* of a map of 120 x 90, enlarged 5 and 2 times, or not, and the
                                   sheet around it */
    } sizes[] = {{0, 875, 580}, {1720, 875, 580}, {400, 640, 330}, {200, 640, 330}};
    char directory[TEMPORARY_PATH], path[TEMPORARY_PATH + 16];
    struct random r = {1};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    struct srcfind_catalogue *c = find(&pixels, NULL);
    struct srcfind *finder;
    struct error error;
    (void)state;
    assert_true(temporary_directory(directory));
    snprintf(path, sizeof path, "%s/p.png", directory);
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    const bool is_possible = picture_is_possible(&error);
    if (!is_possible) {
        assert_true(srcfind_catalogue_save_picture(finder, c, &pixels, 0, path) != SRCFIND_OK);
        assert_non_null(strstr(srcfind_message(finder), "pictures need cairo"));
    }
    for (size_t i = 0; is_possible && i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(srcfind_catalogue_save_picture(finder, c, &pixels, sizes[i].size, path),
                         SRCFIND_OK);
        assert_int_equal(png_size(path, 0), sizes[i].width);
        assert_int_equal(png_size(path, 1), sizes[i].height);
    }
    for (int size = 199; size < 2000; size += 1721 - 199) {
        assert_int_equal(srcfind_catalogue_save_picture(finder, c, &pixels, size, path),
                         SRCFIND_ERROR_OPTIONS);
        assert_non_null(strstr(srcfind_message(finder), "give 200 to 1720"));
    }
    assert_int_equal(srcfind_catalogue_save_picture(finder, c, NULL, 0, path),
                     SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_message(finder), "give these pixels again"));
    write_image(path);
    assert_int_equal(srcfind_catalogue_save_picture(finder, c, &pixels, 0, path),
                     SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_message(finder), "p.png: the map would replace this file"));
    srcfind_destroy(finder);
    srcfind_catalogue_destroy(c);
    picture_free(&p);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
}

/* What is saved replaces files of its kind, but neither the image nor another file. */
static void saving_replaces_no_image(void **state) {
    static const char *const names[] = {"image.fits", "other.fits", "rms.fits", "c.fits"};
    char directory[TEMPORARY_PATH], path[4][TEMPORARY_PATH + 16];
    struct srcfind_catalogue *c;
    struct srcfind *finder;
    (void)state;
    assert_true(temporary_directory(directory));
    for (int i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", directory, names[i]);
    write_image(path[0]);
    write_image(path[1]);
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_file(finder, path[0], &c), SRCFIND_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(srcfind_catalogue_save_map(finder, c, "rms", path[2]), SRCFIND_OK);
        assert_int_equal(srcfind_catalogue_save(finder, c, "fits", path[3]), SRCFIND_OK);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(srcfind_catalogue_save(finder, c, "csv", path[i]), SRCFIND_ERROR_OPTIONS);
        assert_non_null(strstr(srcfind_message(finder), "fits: the catalogue would replace"));
    }
    for (int i = 0; i < 4; i += i + 1) { /* 0, 1, 3 */
        assert_int_equal(srcfind_catalogue_save_map(finder, c, "snr", path[i]),
                         SRCFIND_ERROR_OPTIONS);
        assert_non_null(strstr(srcfind_message(finder), "fits: the map would replace"));
    }
    srcfind_catalogue_destroy(c);
    srcfind_destroy(finder);
    for (int i = 0; i < 4; i++)
        unlink(path[i]);
    assert_int_equal(rmdir(directory), 0);
}

/* The table of planes has rows of sources of both signs, and counts none of them as negative: the
 * catalogue does. */
static void planes_of_negative_sources(void **state) {
    char directory[TEMPORARY_PATH], path[TEMPORARY_PATH + 16];
    struct srcfind_catalogue *c;
    struct srcfind *finder;
    (void)state;
    assert_true(temporary_directory(directory));
    snprintf(path, sizeof path, "%s/image.fits", directory);
    write_image(path);
    struct srcfind_options *options =
        options_with("measure-in", path, "negative", "yes", "rms", "1", "background", "zero", NULL);
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_file(finder, path, &c), SRCFIND_OK);
    const struct srcfind_catalogue *planes = srcfind_catalogue_planes(c);
    assert_int_equal(srcfind_catalogue_size(c), 2);
    assert_int_equal(srcfind_catalogue_negatives(c), 1);
    assert_int_equal(srcfind_catalogue_size(planes), 2);
    assert_int_equal(srcfind_catalogue_negatives(planes), 0);
    srcfind_catalogue_destroy(c);
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
}

/* Writes a catalogue to nowhere. */
static enum srcfind_status write_as(struct srcfind *finder, const struct srcfind_catalogue *c,
                                    const char *format) {
    FILE *stream = fopen("/dev/null", "w");
    assert_non_null(stream);
    const enum srcfind_status status = srcfind_catalogue_write(finder, c, format, stream);
    fclose(stream);
    return status;
}

/* Formats that have columns of their own do not leave chosen ones out silently. A second choice
 * replaces the first one, which is freed. */
static void chosen_columns(void **state) {
    static const char *const own[] = {"reg", "crtf", "table", "skymodel"};
    struct random r = {2};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    const struct srcfind_pixels pixels = pixels_of(&p);
    struct srcfind *finder;
    struct srcfind_catalogue *c;
    const struct srcfind_catalogue *table;
    (void)state;
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_pixels(finder, &pixels, &c), SRCFIND_OK);
    assert_int_equal(srcfind_catalogue_select(finder, c, "N_pix=n", &table), SRCFIND_OK);
    assert_string_equal(srcfind_catalogue_column(table, 0)->name, "n");
    assert_null(srcfind_catalogue_column(table, 1));
    assert_int_equal(write_as(finder, table, "csv"), SRCFIND_OK);
    assert_int_equal(write_as(finder, c, "reg"), SRCFIND_OK);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        assert_int_equal(write_as(finder, table, own[i]), SRCFIND_ERROR_OPTIONS);
        assert_non_null(strstr(srcfind_message(finder), " has columns of its own: choose csv"));
    }
    assert_int_equal(srcfind_catalogue_select(finder, c, "no_such", &table), SRCFIND_ERROR_OPTIONS);
    assert_int_equal(write_as(finder, table, "csv"), SRCFIND_OK);
    assert_int_equal(srcfind_catalogue_select(finder, c, "Isl_id,N_pix", &table), SRCFIND_OK);
    assert_string_equal(srcfind_catalogue_column(table, 0)->name, "Isl_id");
    assert_non_null(srcfind_catalogue_column(table, 1));
    srcfind_catalogue_destroy(c);
    srcfind_destroy(finder);
    picture_free(&p);
}

/* --- calls that end early --- */

/* Answers that a call is to end, at a time of its questions. */
struct answers {
    thrd_t caller;
    int n, yes; /* questions so far; the one to which the answer is yes, as to those that follow */
};

static bool answer(void *user) {
    struct answers *a = user;
    assert_true(thrd_equal(thrd_current(), a->caller));
    return ++a->n >= a->yes;
}

/* Searches pixels until question `yes`. Returns how many were asked. */
static int find_until(struct srcfind *finder, const struct srcfind_pixels *pixels, int yes,
                      enum srcfind_status expected, struct srcfind_catalogue **catalogue) {
    struct answers answers = {thrd_current(), 0, yes};
    srcfind_set_interrupted(finder, answer, &answers);
    const enum srcfind_status status = srcfind_find_pixels(finder, pixels, catalogue);
    if (answers.n < yes)
        expected = SRCFIND_OK;
    if (status != expected)
        fail_msg("%s: %d, and not %d, after %d", srcfind_message(finder), status, expected, yes);
    assert_true((status == SRCFIND_OK) == (*catalogue != NULL));
    if (status != SRCFIND_OK) {
        assert_string_equal(srcfind_message(finder), "interrupted");
        assert_int_equal(answers.n, yes); /* once is enough */
    }
    return answers.n;
}

/* Interrupts a search at some of its questions, from the first to the last one. */
static void interrupt_often(const struct srcfind_options *options,
                            const struct srcfind_pixels *pixels, int least) {
    enum { MOST = 12 };
    struct srcfind_catalogue *expected = find(pixels, options), *c;
    struct srcfind *finder;
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    const int n = find_until(finder, pixels, INT_MAX, SRCFIND_OK, &c);
    print_message("%d questions\n", n);
#ifdef TEST_HOOKS
    assert_true(n >= least);
#else
    assert_true(n >= 1 && least > 0); /* others come in time */
#endif
    assert_same_texts(c, expected);
    srcfind_catalogue_destroy(c);
    for (int k = 1; k <= n; k += n < MOST ? 1 : n / MOST) {
        find_until(finder, pixels, k, SRCFIND_INTERRUPTED, &c);
        srcfind_catalogue_destroy(c);
    }
    srcfind_set_interrupted(finder, NULL, NULL);
    assert_int_equal(srcfind_find_pixels(finder, pixels, &c), SRCFIND_OK);
    assert_same_texts(c, expected);
    srcfind_catalogue_destroy(c);
    srcfind_catalogue_destroy(expected);
    srcfind_destroy(finder);
}

/* A map that is interrupted leaves no file. */
static void interrupted_maps(void **state) {
    char directory[TEMPORARY_PATH], image[TEMPORARY_PATH + 16], map[TEMPORARY_PATH + 16];
    struct srcfind_catalogue *c;
    struct srcfind *finder;
    float values[60 * 40];
    struct answers answers = {thrd_current(), 0, 1};
    (void)state;
    assert_true(temporary_directory(directory));
    snprintf(image, sizeof image, "%s/image.fits", directory);
    snprintf(map, sizeof map, "%s/map.fits", directory);
    write_image(image);
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_file(finder, image, &c), SRCFIND_OK);
    srcfind_set_interrupted(finder, answer, &answers);
    assert_int_equal(srcfind_catalogue_save_map(finder, c, "rms", map), SRCFIND_INTERRUPTED);
    assert_int_equal(srcfind_catalogue_map(finder, c, NULL, "rms", values), SRCFIND_INTERRUPTED);
    srcfind_catalogue_destroy(c);
    assert_int_equal(srcfind_find_file(finder, image, &c), SRCFIND_INTERRUPTED);
    assert_non_null(strstr(srcfind_message(finder), "image.fits: interrupted"));
    assert_null(c);
    srcfind_destroy(finder);
    unlink(image);
    assert_int_equal(rmdir(directory), 0);
}

/* A search ends at any time, leaves nothing, and the finder can be used again. */
static void interrupted_searches(void **state) {
    struct random r = {1};
    struct picture p = picture_make(5, 200, 200, &r);
    struct srcfind_pixels pixels = pixels_of(&p);
    char *text = cards(geometry);
    (void)state;
    pixels.header = text;
    setenv("SRCFIND_ASK_ALWAYS", "1", 1);
    for (int threads = 1; threads <= 3; threads += 2) {
        struct srcfind_options *o =
            options_with("device", "cpu", "threads", threads == 1 ? "1" : "3", NULL);
        interrupt_often(o, &pixels, 5);
        srcfind_options_set(o, "fit", "yes");
        srcfind_options_set(o, "local", "yes");
        srcfind_options_set(o, "negative", "yes");
        srcfind_options_set(o, "scales", "2");
        srcfind_options_set(o, "completeness", "30");
        interrupt_often(o, &pixels, 500);
        srcfind_options_destroy(o);
    }
    unsetenv("SRCFIND_ASK_ALWAYS");
    free(text);
    picture_free(&p);
}

static int find_often(void *picture) {
    const struct srcfind_pixels pixels = pixels_of(picture);
    struct srcfind_options *options = options_with("threads", "2", NULL);
    int64_t n = 0;
    for (int i = 0; i < 20; i++) {
        struct srcfind_catalogue *c = find(&pixels, options);
        n += srcfind_catalogue_size(c);
        srcfind_catalogue_destroy(c);
    }
    srcfind_options_destroy(options);
    return (int)n;
}

static void finders_in_threads(void **state) {
    struct random r = {2};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    thrd_t threads[4];
    int n[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(thrd_create(&threads[i], find_often, &p), thrd_success);
    for (int i = 0; i < 4; i++)
        thrd_join(threads[i], &n[i]);
    assert_true(n[0] > 0 && n[0] == n[1] && n[1] == n[2] && n[2] == n[3]);
    picture_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_options_have_a_round_trip),
        cmocka_unit_test(survey_stands_for_three_options),
        cmocka_unit_test(defaults),
        cmocka_unit_test(values_and_their_buffers),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(small_stack),
        cmocka_unit_test(implied_options),
        cmocka_unit_test(names_of_maps),
        cmocka_unit_test(names_of_formats),
        cmocka_unit_test(paths_of_any_length),
        cmocka_unit_test(lists_of_files),
        cmocka_unit_test(positions_that_are_given),
        cmocka_unit_test(island_above_threshold),
        cmocka_unit_test(strides_and_byte_orders),
        cmocka_unit_test(struct_of_an_older_program),
        cmocka_unit_test(known_source),
        cmocka_unit_test(negative_sources),
        cmocka_unit_test(gaussians),
        cmocka_unit_test(header_beside_pixels),
        cmocka_unit_test(beam_from_the_options),
        cmocka_unit_test(wrong_header),
        cmocka_unit_test(missing_device),
        cmocka_unit_test(chosen_backend),
        cmocka_unit_test(wrong_shapes),
        cmocka_unit_test(maps_of_pixels),
        cmocka_unit_test(maps_of_components),
        cmocka_unit_test(blanks_in_maps),
        cmocka_unit_test(wrong_maps),
        cmocka_unit_test(maps_need_files),
        cmocka_unit_test(pictures_of_pixels),
        cmocka_unit_test(notes_on_an_image),
        cmocka_unit_test(finders_share_positions),
        cmocka_unit_test(formats),
        cmocka_unit_test(saving_replaces_no_image),
        cmocka_unit_test(planes_of_negative_sources),
        cmocka_unit_test(chosen_columns),
        cmocka_unit_test(interrupted_maps),
        cmocka_unit_test(interrupted_searches),
        cmocka_unit_test(finders_in_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
