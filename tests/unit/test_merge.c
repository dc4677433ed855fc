/* The public calls for merging: catalogues in memory and in files, and calls that fail. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "srcfind.h"
#include "temporary.h"
#include "unit.h"

enum { WIDTH = 96, HEIGHT = 80, PATH = TEMPORARY_PATH + 32, TEXT_BYTES = 1 << 16 };

static const char header[] =
    "CTYPE1  = 'RA---SIN'                                                            "
    "CTYPE2  = 'DEC--SIN'                                                            "
    "CRPIX1  =                 48.0                                                  "
    "CRPIX2  =                 40.0                                                  "
    "CRVAL1  =                150.0                                                  "
    "CRVAL2  =                  2.0                                                  "
    "CDELT1  =              -0.0005                                                  "
    "CDELT2  =               0.0005                                                  "
    "BUNIT   = 'Jy/beam '                                                            "
    "BMAJ    =                0.002                                                  "
    "BMIN    =               0.0015                                                  ";

static char directory[TEMPORARY_PATH];
static struct srcfind *finder;

static const char *path_of(const char *name) {
    static char paths[4][PATH];
    static int i;
    char *path = paths[i++ % 4];
    snprintf(path, PATH, "%s/%s", directory, name);
    return path;
}

/* Six sources, of which those of another row of the grid are elsewhere. noise: the rms. */
static struct srcfind_catalogue *find(int row, float noise) {
    static float values[WIDTH * HEIGHT];
    const struct srcfind_pixels pixels = {.size = sizeof pixels,
                                          .values = values,
                                          .width = WIDTH,
                                          .height = HEIGHT,
                                          .header = header};
    struct srcfind_catalogue *catalogue;
    unsigned seed = 1;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        seed = seed * 1664525 + 1013904223;
        values[i] = ((float)(seed >> 16) / 65536 - 0.5F) * noise;
    }
    for (int i = 0; i < 6; i++)
        values[(10 + 20 * row) * WIDTH + 8 + 16 * i] = 40;
    assert_int_equal(srcfind_find_pixels(finder, &pixels, &catalogue), SRCFIND_OK);
    assert_int_equal(srcfind_catalogue_size(catalogue), 6);
    return catalogue;
}

static struct srcfind_merge *begin(const char *name, bool keep_duplicates, double radius) {
    const char *path = path_of(name);
    const struct srcfind_merge_settings settings = {.size = sizeof settings,
                                                    .path = path,
                                                    .radius = radius,
                                                    .keep_duplicates = keep_duplicates,
                                                    .threads = 2};
    struct srcfind_merge *merge;
    assert_int_equal(srcfind_merge_create(&settings, &merge), SRCFIND_OK);
    return merge;
}

static struct srcfind_merge_counts finish(struct srcfind_merge *merge) {
    const struct srcfind_merge_counts *counts;
    assert_int_equal(srcfind_merge_finish(merge, &counts), SRCFIND_OK);
    const struct srcfind_merge_counts copy = *counts;
    srcfind_merge_destroy(merge);
    return copy;
}

static const char *read_file(const char *name, char text[TEXT_BYTES]) {
    FILE *stream = fopen(path_of(name), "r");
    assert_non_null(stream);
    text[fread(text, 1, TEXT_BYTES - 1, stream)] = '\0';
    fclose(stream);
    return text;
}

/* The line of a text, without its end. */
static const char *line_of(const char *text, int number) {
    static char line[512];
    for (; number > 0; number--)
        text = strchr(text, '\n') + 1;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    return line;
}

/* --- rows --- */

/* The catalogue of the lower noise has the rows; what no other has, stays. */
static void duplicates_are_dropped_or_marked(void **state) {
    struct srcfind_catalogue *catalogues[] = {find(0, 2), find(0, 1), find(1, 2)};
    static const char *const names[] = {"first", "second", "third"};
    static char text[TEXT_BYTES];
    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        struct srcfind_merge *merge = begin("merged.csv", keep, 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(srcfind_merge_add(merge, catalogues[i], names[i]), SRCFIND_OK);
        const struct srcfind_merge_counts counts = finish(merge);
        assert_int_equal(counts.images, 3);
        assert_int_equal(counts.duplicates, 6);
        assert_int_equal(counts.rows, keep ? 18 : 12);
        assert_int_equal(counts.without_beam + counts.without_sky, 0);
        read_file("merged.csv", text);
        assert_memory_equal(line_of(text, 1), keep ? "first,,1,1," : "second,,1,1,", 11);
        assert_memory_equal(line_of(text, keep ? 18 : 12), keep ? "third,,18,6," : "third,,12,6,",
                            12);
        assert_int_equal(strstr(text, "first") != NULL, keep);
    }
    for (int i = 0; i < 3; i++)
        srcfind_catalogue_destroy(catalogues[i]);
}

/* In memory or in a file, CSV too: the merged catalogue has the same bytes. */
static void files_are_as_catalogues_in_memory(void **state) {
    static const char *const formats[] = {"json", "fits", "ecsv", "csv"};
    static char expected[TEXT_BYTES], text[TEXT_BYTES];
    struct srcfind_catalogue *a = find(0, 2), *b = find(1, 1);
    struct srcfind_merge *merge = begin("memory", false, 4);
    (void)state;
    assert_int_equal(srcfind_merge_add(merge, a, "a"), SRCFIND_OK);
    assert_int_equal(srcfind_merge_add(merge, b, "b"), SRCFIND_OK);
    assert_int_equal(finish(merge).rows, 12);
    read_file("memory", expected);
    for (int i = 0; i < 4; i++) {
        merge = begin("files.csv", false, 4);
        char name[16];
        snprintf(name, sizeof name, "a.%s", formats[i]);
        assert_int_equal(srcfind_catalogue_save(finder, a, formats[i], path_of(name)), SRCFIND_OK);
        assert_int_equal(srcfind_merge_add_file(merge, path_of(name), "a"), SRCFIND_OK);
        assert_int_equal(srcfind_merge_add(merge, b, "b"), SRCFIND_OK);
        assert_int_equal(finish(merge).images, 2);
        assert_string_equal(read_file("files.csv", text), expected);
    }
    /* without a name and a path of the image, the path of the catalogue tells them apart */
    merge = begin("files.csv", false, 4);
    assert_int_equal(srcfind_merge_add_file(merge, path_of("a.csv"), NULL), SRCFIND_OK);
    finish(merge);
    read_file("files.csv", text);
    assert_memory_equal(line_of(text, 1), path_of("a.csv"), strlen(path_of("a.csv")));
    srcfind_catalogue_destroy(a);
    srcfind_catalogue_destroy(b);
}

/* --- errors --- */

/* A call that fails adds nothing, and the next ones do. */
static void failed_calls_change_nothing(void **state) {
    static char expected[TEXT_BYTES], text[TEXT_BYTES];
    struct srcfind_catalogue *a = find(0, 1);
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        struct srcfind_merge *merge = begin(fails ? "fails.json" : "all.json", true, 0);
        if (fails) {
            assert_int_equal(srcfind_merge_add_file(merge, path_of("none.csv"), NULL),
                             SRCFIND_ERROR_INPUT);
            assert_non_null(strstr(srcfind_merge_message(merge), "none.csv: "));
            assert_int_equal(srcfind_merge_add(merge, a, NULL), SRCFIND_ERROR_OPTIONS);
            assert_non_null(strstr(srcfind_merge_message(merge), "name: "));
        }
        assert_int_equal(srcfind_merge_add(merge, a, "a"), SRCFIND_OK);
        if (fails)
            assert_int_equal(srcfind_merge_add_file(merge, directory, NULL), SRCFIND_ERROR_INPUT);
        assert_int_equal(srcfind_merge_add(merge, a, "b"), SRCFIND_OK);
        assert_int_equal(finish(merge).rows, 12);
    }
    assert_string_equal(read_file("fails.json", text), read_file("all.json", expected));
    srcfind_catalogue_destroy(a);
}

static void wrong_settings(void **state) {
    static const struct {
        struct srcfind_merge_settings settings;
        enum srcfind_status status;
        const char *message;
    } wrong[] = {
        {{.path = NULL}, SRCFIND_ERROR_OPTIONS, "path: "},
        {{.path = ""}, SRCFIND_ERROR_OPTIONS, "path: "},
        {{.path = "a.reg"}, SRCFIND_ERROR_OPTIONS, "a.reg: no format of merged catalogues"},
        {{.path = "a.csv", .radius = -1}, SRCFIND_ERROR_OPTIONS, "radius: "},
        {{.path = "a.csv", .radius = (double)NAN}, SRCFIND_ERROR_OPTIONS, "radius: "},
        {{.path = "a.csv", .radius = 648001}, SRCFIND_ERROR_OPTIONS, "radius: "},
        {{.path = "a.csv", .threads = -1}, SRCFIND_ERROR_OPTIONS, "threads: "},
        {{.path = "a.csv", .sort = "size"}, SRCFIND_ERROR_OPTIONS, "sort: "},
        {{.path = "/no/such/a.csv"}, SRCFIND_ERROR_OUTPUT, "/no/such/a.csv: "},
    };
    struct srcfind_catalogue *a = find(0, 1);
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct srcfind_merge_settings settings = wrong[i].settings;
        struct srcfind_merge *merge;
        settings.size = sizeof settings;
        assert_int_equal(srcfind_merge_create(&settings, &merge), wrong[i].status);
        assert_memory_equal(srcfind_merge_message(merge), wrong[i].message,
                            strlen(wrong[i].message));
        assert_int_equal(srcfind_merge_add(merge, a, "a"), SRCFIND_ERROR_OPTIONS);
        srcfind_merge_destroy(merge);
    }
    srcfind_catalogue_destroy(a);
    srcfind_merge_destroy(NULL);
    assert_string_equal(srcfind_merge_message(NULL), "out of memory");
}

/* A merge ends once, well or not, and no file is written by one that does not end well. */
static void wrong_ends(void **state) {
    struct srcfind_catalogue *a = find(0, 1);
    struct srcfind_merge *merge = begin("none.csv", false, 0);
    (void)state;
    assert_int_equal(srcfind_merge_finish(merge, NULL), SRCFIND_ERROR_INPUT);
    assert_non_null(strstr(srcfind_merge_message(merge), "no image has a catalogue"));
    assert_int_equal(srcfind_merge_add(merge, a, "a"), SRCFIND_ERROR_OPTIONS);
    srcfind_merge_destroy(merge);
    merge = begin("none.csv", false, 0);
    assert_int_equal(srcfind_catalogue_save(finder, a, "csv", path_of("a.csv")), SRCFIND_OK);
    assert_int_equal(srcfind_merge_add_file(merge, path_of("a.csv"), NULL), SRCFIND_OK);
    assert_int_equal(srcfind_merge_finish(merge, NULL), SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_merge_message(merge), "radius"));
    srcfind_merge_destroy(merge);
    assert_int_equal(access(path_of("none.csv"), F_OK), -1);
    merge = begin("a.csv", false, 1);
    assert_int_equal(srcfind_merge_add_file(merge, path_of("a.csv"), NULL), SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_merge_message(merge), "would replace one of the merged files"));
    srcfind_merge_destroy(merge);
    merge = begin("once.csv", false, 0);
    assert_int_equal(srcfind_merge_add(merge, a, "a"), SRCFIND_OK);
    assert_int_equal(srcfind_merge_finish(merge, NULL), SRCFIND_OK);
    assert_int_equal(srcfind_merge_finish(merge, NULL), SRCFIND_ERROR_OPTIONS);
    assert_int_equal(srcfind_merge_add_file(merge, path_of("a.csv"), "b"), SRCFIND_ERROR_OPTIONS);
    srcfind_merge_destroy(merge);
    srcfind_catalogue_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicates_are_dropped_or_marked),
        cmocka_unit_test(files_are_as_catalogues_in_memory),
        cmocka_unit_test(failed_calls_change_nothing),
        cmocka_unit_test(wrong_settings),
        cmocka_unit_test(wrong_ends),
    };
    char command[2 * TEMPORARY_PATH];
    if (!temporary_directory(directory) || srcfind_create(NULL, &finder) != SRCFIND_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    srcfind_destroy(finder);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command) != 0 || failed;
}
