/* What the library reads and writes is the same in a program whose locale has a decimal comma, or
 * letters beyond ASCII. */
#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/parse_number.h"
#include "common/path.h"
#include "options.h"
#include "srcfind.h"
#include "temporary.h"
#include "unit.h"

enum { WIDTH = 96, HEIGHT = 80, CARD_BYTES = 80, BLOCK = 2880, SKIPPED = 77 };

static char directory[TEMPORARY_PATH];

/* --- the locale --- */

/* Makes a locale with a comma in the directory. Not 0 if it cannot be made: localedef needs what
 * the package locales has. */
static int make_locale(void) {
    char command[3 * TEMPORARY_PATH];
    snprintf(command, sizeof command,
             "cd '%s' && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \".\"\\n"
             "grouping 3;3\\nEND LC_NUMERIC\\n' >source && "
             "{ localedef -c -i source ./comma >log 2>&1; test -f comma/LC_NUMERIC; }",
             directory);
    return system(command);
}

/* The same for Turkish letters, as they were before UTF-8: a small I has no dot, and 0xE9 is a
 * letter. */
static int make_letters(void) {
    char command[2 * TEMPORARY_PATH];
    snprintf(command, sizeof command,
             "cd '%s' && { localedef -i tr_TR -f ISO-8859-9 ./letters >log 2>&1; test -f "
             "letters/LC_CTYPE; }",
             directory);
    return system(command);
}

/* LOCPATH is set for this alone: newlocale of glibc leaks what it makes of it. */
static void use_comma(bool comma) {
    setenv("LOCPATH", directory, 1);
    assert_non_null(setlocale(LC_NUMERIC, comma ? "comma" : "C"));
    unsetenv("LOCPATH");
    char text[8];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, comma ? "0,5" : "0.5");
}

/* --- options --- */

static void options_mean_the_same(void **state) {
    static const char *const given[][2] = {
        {"island", "3.5"},   {"threshold", "6.1"}, {"kappa", "2.5"},        {"rms", "0.25"},
        {"blank", "-0.5"},   {"beam", "1.5,1,0"},  {"beam", "10.1,7,40.3"}, {"background", "1e-05"},
        {"contrast", "1.5"}, {"rms-box", "60,20"}, {"plane", "2,7"}};
    struct srcfind_options *options = srcfind_options_create();
    (void)state;
    use_comma(true);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        assert_int_equal(srcfind_options_set(options, given[i][0], given[i][1]), SRCFIND_OK);
        assert_option(options, given[i][0], given[i][1]);
    }
    assert_int_equal(srcfind_options_set(options, "beam", " 10.5, 8, 40"), SRCFIND_OK);
    assert_option(options, "beam", "10.5,8,40");
    use_comma(false);
    assert_option(options, "threshold", "6.1");
    srcfind_options_destroy(options);
}

static void commas_are_refused(void **state) {
    static const char *const wrong[][2] = {
        {"island", "3,5"},  {"threshold", "6,5"},  {"kappa", "2,"},      {"rms", "0,25"},
        {"beam", "1,5"},    {"beam", "1.5,1"},     {"beam", "2,1,0,"},   {"beam", "2,1,0,0"},
        {"beam", ",2,1,0"}, {"background", "0,5"}, {"contrast", "1.5x"}, {"blank", ""}};
    struct srcfind_options *options = srcfind_options_create();
    (void)state;
    for (int comma = 0; comma < 2; comma++) {
        use_comma(comma);
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
            if (srcfind_options_set(options, wrong[i][0], wrong[i][1]) != SRCFIND_ERROR_OPTIONS)
                fail_msg("%s %s was accepted", wrong[i][0], wrong[i][1]);
    }
    srcfind_options_destroy(options);
}

static void messages_are_the_same(void **state) {
    struct srcfind_options *options = srcfind_options_create();
    struct srcfind *finder;
    (void)state;
    srcfind_options_set(options, "island", "6.5");
    use_comma(true);
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_ERROR_OPTIONS);
    assert_string_equal(srcfind_message(finder),
                        "island: 6.5 is above the threshold, 5: give --island 5 or less");
    assert_null(strstr(srcfind_versions(), ",0"));
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
}

/* --- files --- */

static void add_card(FILE *stream, const char *text) {
    fprintf(stream, "%-*s", CARD_BYTES, text);
}

/* An image with coordinates whose cards have decimals; PC1_3 as well, on which those of maps
 * depend. */
static void write_image(const char *path, const char *lon, const char *lat, const char *pc) {
    const char *const cards[] = {"SIMPLE  = T",
                                 "BITPIX  = -32",
                                 "NAXIS   = 3",
                                 "NAXIS1  = 96",
                                 "NAXIS2  = 80",
                                 "NAXIS3  = 1",
                                 lon,
                                 lat,
                                 pc,
                                 "CRPIX1  = 48.5",
                                 "CRPIX2  = 40.25",
                                 "CRVAL1  = 150.125",
                                 "CRVAL2  = 2.75",
                                 "CDELT1  = -5.5E-4",
                                 "CDELT2  = 5.5E-4",
                                 "BUNIT   = 'Jy/beam'",
                                 "BMAJ    = 2.75E-3",
                                 "BMIN    = 2.25E-3",
                                 "BPA     = 30.5",
                                 "CTYPE3  = 'FREQ'",
                                 "CRVAL3  = 1.4255E9",
                                 "CDELT3  = 1.5E6",
                                 "HISTORY AIPS   CLEAN BMAJ=  2.75E-03 BMIN=  2.25E-03 BPA=  30.5",
                                 "END"};
    FILE *stream = fopen(path, "wb");
    uint32_t noise = 1;
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        add_card(stream, cards[i]);
    while (ftell(stream) % BLOCK != 0)
        fputc(' ', stream);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const int x = i % WIDTH, y = i / WIDTH;
        noise = noise * 1664525 + 1013904223;
        const int dx = x % 32 - 16, dy = y % 40 - 20, near = dx * dx + dy * dy;
        const float value =
            (float)(noise >> 16) / 65536 - 0.5F + (near < 20 ? 50.F / (float)(1 + near) : 0);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        for (int shift = 24; shift >= 0; shift -= 8)
            fputc((int)(bits >> shift & 255), stream);
    }
    while (ftell(stream) % BLOCK != 0)
        fputc(0, stream);
    fclose(stream);
}

static char *read_all(const char *path, size_t *size) {
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    *size = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, stream), *size);
    fclose(stream);
    return bytes;
}

/* Whether map i is written: pictures need cairo, and nothing is injected. */
static bool is_written(int i) {
    return strcmp(srcfind_map_suffix(i), ".fits") == 0 && strcmp(srcfind_map(i), "injected") != 0;
}

/* Whether format i is that of a sky model, which an image has with coordinates of ICRS alone. */
static bool is_sky_model(int i) {
    return strstr("skymodel sagecal", srcfind_format(i)->name);
}

/* Searches the image, and writes DIRECTORY/PREFIX.NAME in each format, and each map. */
static void write_all(const char *image, const char *prefix) {
    static const char *const given[][2] = {
        {"island", "3.5"}, {"fit", "yes"}, {"beam", "9.9,8.1,30.5"}};
    struct srcfind_options *options = srcfind_options_create();
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    char path[2 * TEMPORARY_PATH];
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        assert_int_equal(srcfind_options_set(options, given[i][0], given[i][1]), SRCFIND_OK);
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_file(finder, image, &catalogue), SRCFIND_OK);
    assert_true(srcfind_catalogue_size(catalogue) > 3);
    for (int i = 0; srcfind_format(i); i++) {
        const char *name = srcfind_format(i)->name;
        snprintf(path, sizeof path, "%s/%s.%s", directory, prefix, name);
        unlink(path);
        const bool is_refused =
            is_sky_model(i) && strcmp(srcfind_catalogue_image(catalogue)->frame, "ICRS") != 0;
        assert_int_equal(srcfind_catalogue_save(finder, catalogue, name, path),
                         is_refused ? SRCFIND_ERROR_INPUT : SRCFIND_OK);
    }
    for (int i = 0; srcfind_map(i); i++) {
        if (!is_written(i))
            continue;
        snprintf(path, sizeof path, "%s/%s.%s", directory, prefix, srcfind_map(i));
        assert_int_equal(srcfind_catalogue_save_map(finder, catalogue, srcfind_map(i), path),
                         SRCFIND_OK);
    }
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
}

static void assert_same_file(const char *name) {
    char one[2 * TEMPORARY_PATH], other[2 * TEMPORARY_PATH];
    size_t size, other_size;
    snprintf(one, sizeof one, "%s/point.%s", directory, name);
    snprintf(other, sizeof other, "%s/comma.%s", directory, name);
    char *bytes = read_all(one, &size), *others = read_all(other, &other_size);
    if (size != other_size || memcmp(bytes, others, size) != 0)
        fail_msg("%s differs", name);
    free(bytes);
    free(others);
}

static void files_are_the_same(void **state) {
    static const char *const cards[][3] = {
        {"CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--SIN'", "PC1_3   = 0.5"},
        {"CTYPE1  = 'GLON-CAR'", "CTYPE2  = 'GLAT-CAR'", "PC1_3   = 0.0"},
        {"CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "EQUINOX = 1975.5"}};
    char image[2 * TEMPORARY_PATH];
    (void)state;
    snprintf(image, sizeof image, "%s/image.fits", directory);
    for (size_t k = 0; k < sizeof cards / sizeof *cards; k++) {
        write_image(image, cards[k][0], cards[k][1], cards[k][2]);
        for (int comma = 0; comma < 2; comma++) {
            use_comma(comma);
            write_all(image, comma ? "comma" : "point");
        }
        for (int i = 0; srcfind_format(i); i++)
            if (k == 0 || !is_sky_model(i))
                assert_same_file(srcfind_format(i)->name);
        assert_same_file("cluster");
        for (int i = 0; srcfind_map(i); i++)
            if (is_written(i))
                assert_same_file(srcfind_map(i));
    }
}

/* --- catalogues that are read --- */

static void positions_are_the_same(void **state) {
    char image[2 * TEMPORARY_PATH], at[2 * TEMPORARY_PATH];
    double x[2];
    (void)state;
    snprintf(image, sizeof image, "%s/image.fits", directory);
    snprintf(at, sizeof at, "%s/at.csv", directory);
    write_image(image, "CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--SIN'", "PC1_3   = 0.0");
    FILE *stream = fopen(at, "w");
    fputs("RA,DEC\n150.12625,2.75375\n", stream);
    fclose(stream);
    for (int comma = 0; comma < 2; comma++) {
        struct srcfind_options *options = srcfind_options_create();
        struct srcfind *finder;
        struct srcfind_catalogue *catalogue;
        use_comma(comma);
        assert_int_equal(srcfind_options_set(options, "at", at), SRCFIND_OK);
        assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
        assert_int_equal(srcfind_find_file(finder, image, &catalogue), SRCFIND_OK);
        assert_int_equal(srcfind_catalogue_size(catalogue), 1);
        x[comma] = srcfind_catalogue_source(catalogue, 0)->x;
        srcfind_catalogue_destroy(catalogue);
        srcfind_destroy(finder);
        srcfind_options_destroy(options);
    }
    assert_true(x[0] == x[1]);
}

/* --- notes --- */

static void notes_are_the_same(void **state) {
    static float values[WIDTH * HEIGHT];
    char header[6 * CARD_BYTES + 1], *notes[2];
    (void)state;
    snprintf(header, sizeof header, "%-80s%-80s%-80s%-80s%-80s%-80s", "CTYPE1  = 'RA---SIN'",
             "CTYPE2  = 'DEC--SIN'", "CDELT1  = -1e-3", "CDELT2  = 1e-3", "BMAJ    = 1.5e-3",
             "BMIN    = 1.5e-3");
    const struct srcfind_pixels pixels = {.size = sizeof pixels,
                                          .values = values,
                                          .width = WIDTH,
                                          .height = HEIGHT,
                                          .header = header};
    for (int comma = 0; comma < 2; comma++) {
        struct srcfind *finder;
        struct srcfind_catalogue *catalogue;
        use_comma(comma);
        assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
        assert_int_equal(srcfind_find_pixels(finder, &pixels, &catalogue), SRCFIND_OK);
        notes[comma] = strdup(srcfind_catalogue_note(catalogue, 0));
        srcfind_catalogue_destroy(catalogue);
        srcfind_destroy(finder);
        char text[8];
        snprintf(text, sizeof text, "%.1f", 0.5);
        assert_string_equal(text, comma ? "0,5" : "0.5"); /* the locale stays */
    }
    assert_non_null(strstr(notes[0], "1.5 pixels"));
    assert_string_equal(notes[0], notes[1]);
    free(notes[0]);
    free(notes[1]);
}

/* --- letters --- */

static void letters_are_ascii(void **state) {
    static const char *const cards[][2] = {{"CRVAL1  = 150.0", "BUNIT   = 'JY/PIXEL'"},
                                           {"CRVAL1  = 1\xE9", "BUNIT   = 'caf\xE9'"}};
    static float values[WIDTH * HEIGHT];
    struct srcfind *finder;
    struct srcfind_catalogue *catalogues[2];
    (void)state;
    if (make_letters() != 0)
        skip();
    setenv("LOCPATH", directory, 1);
    assert_non_null(setlocale(LC_CTYPE, "letters"));
    unsetenv("LOCPATH");
    assert_true(isprint(0xE9) && tolower('I') != 'i');
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    for (int i = 0; i < 2; i++) {
        char header[7 * CARD_BYTES + 1];
        snprintf(header, sizeof header, "%-80s%-80s%-80s%-80s%-80s%-80s%-80s",
                 "CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--SIN'", "CDELT1  = -1e-3",
                 "CDELT2  = 1e-3", "RADESYS = 'icrs'", cards[i][0], cards[i][1]);
        const struct srcfind_pixels pixels = {.size = sizeof pixels,
                                              .values = values,
                                              .width = WIDTH,
                                              .height = HEIGHT,
                                              .header = header};
        assert_int_equal(srcfind_find_pixels(finder, &pixels, &catalogues[i]), SRCFIND_OK);
    }
    assert_int_equal(parse_number("INF", 3).kind, NUMBER_REAL);
    assert_true(path_ends_with("TILE.FITS", ".fits"));
    setlocale(LC_CTYPE, "C");
    assert_string_equal(srcfind_catalogue_image(catalogues[0])->flux_unit, "Jy");
    assert_string_equal(srcfind_catalogue_image(catalogues[0])->frame, "ICRS");
    assert_string_equal(srcfind_catalogue_image(catalogues[1])->unit, "caf?");
    assert_string_equal(srcfind_catalogue_image(catalogues[1])->no_sky,
                        "CRVAL1 is no number: 1?: correct the header");
    for (int i = 0; i < 2; i++)
        srcfind_catalogue_destroy(catalogues[i]);
    srcfind_destroy(finder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_mean_the_same),  cmocka_unit_test(commas_are_refused),
        cmocka_unit_test(messages_are_the_same),  cmocka_unit_test(files_are_the_same),
        cmocka_unit_test(positions_are_the_same), cmocka_unit_test(notes_are_the_same),
        cmocka_unit_test(letters_are_ascii),
    };
    char command[2 * TEMPORARY_PATH];
    int status = SKIPPED;
    if (!temporary_directory(directory))
        return 1;
    if (make_locale() == 0)
        status = cmocka_run_group_tests(tests, NULL, NULL);
    else
        printf("skipped: localedef, or what it needs of Debian's package locales, is not there\n");
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command) != 0 ? 1 : status;
}
