/* The largest images there can be: axes of 2^31 - 1 pixels, one image with more than 2^32 pixels,
 * in files with holes. Nearly all pixels are 0, and some 1, so that the rms is known; clipped so
 * widely that all of these stay. To read the holes takes long: where the file has nothing, the
 * source makes zeros itself. All else comes from the file. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/find.h"
#include "options.h"
#include "output/catalogue.h"
#include "pictures.h"
#include "srcfind.h"
#include "temporary.h"

enum { BLOCK = 2880, ONES = 250000, MOST_BRIGHT = 4, PARTS = 4 + MOST_BRIGHT };

/* A range of pixels that the file has. */
struct part {
    int64_t first, count;
};

/* A pixel above the threshold. */
struct bright {
    int64_t x, y;
    uint8_t value;
};

/* A source that is expected, and its highest pixel. */
struct expected {
    int64_t x_peak, y_peak, n_pixels;
    double x, sum;
};

/* Bright pixels, and their sources. */
struct sky {
    struct bright bright[MOST_BRIGHT];
    struct expected sources[MOST_BRIGHT];
    int n_bright, n_sources;
    bool divides; /* islands, whose pixels are read again then */
};

struct sparse {
    char directory[TEMPORARY_PATH], path[TEMPORARY_PATH + 16];
    int file;
    int64_t width, height, n_ones;
    struct part parts[PARTS];
    int n_parts;
    struct input input;
};

static void write_header(const struct sparse *s) {
    char cards[5][CARD + 1], header[BLOCK + 1];
    snprintf(cards[0], sizeof cards[0], "SIMPLE  = %20s", "T");
    snprintf(cards[1], sizeof cards[1], "BITPIX  = %20d", 8);
    snprintf(cards[2], sizeof cards[2], "NAXIS   = %20d", 2);
    snprintf(cards[3], sizeof cards[3], "NAXIS1  = %20lld", (long long)s->width);
    snprintf(cards[4], sizeof cards[4], "NAXIS2  = %20lld", (long long)s->height);
    snprintf(header, sizeof header, "%-80s%-80s%-80s%-80s%-80s%-*s", cards[0], cards[1], cards[2],
             cards[3], cards[4], BLOCK - 5 * CARD, "END");
    assert_int_equal(pwrite(s->file, header, BLOCK, 0), BLOCK);
}

/* Makes a file of zeros, or skips the test. */
static void sparse_make(struct sparse *s, int64_t width, int64_t height) {
    *s = (struct sparse){.width = width, .height = height};
    assert_true(temporary_directory(s->directory));
    snprintf(s->path, sizeof s->path, "%s/sparse.fits", s->directory);
    s->file = open(s->path, O_CREAT | O_EXCL | O_RDWR, 0600);
    assert_true(s->file >= 0);
    write_header(s);
    struct stat status;
    if (ftruncate(s->file, BLOCK + width * height) != 0 || fstat(s->file, &status) != 0 ||
        status.st_blocks > 1 << 20) {
        print_message("this file system has no files of %lld bytes with holes\n",
                      (long long)(width * height));
        unlink(s->path);
        rmdir(s->directory);
        close(s->file);
        skip();
    }
}

static void sparse_remove(struct sparse *s) {
    close(s->file);
    assert_int_equal(unlink(s->path), 0);
    assert_int_equal(rmdir(s->directory), 0);
}

static void write_part(struct sparse *s, int64_t first, const uint8_t *values, int64_t count) {
    assert_int_equal(pwrite(s->file, values, (size_t)count, BLOCK + first), count);
    s->parts[s->n_parts++] = (struct part){first, count};
}

/* Stretches of zeros and ones in the inner quarters. */
static void write_ones(struct sparse *s) {
    uint8_t *ones = malloc(ONES);
    struct random random = {1};
    for (int part = 1; part < 8; part += 2) {
        for (int i = 0; i < ONES; i++) {
            ones[i] = random_bits(&random) & 1;
            s->n_ones += ones[i];
        }
        write_part(s, s->width * s->height / 8 * part, ones, ONES);
    }
    free(ones);
}

static const uint32_t *read_sparse(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct sparse *s = state;
    const struct pixel_source *file = &s->input.image.source;
    assert_true(first >= 0 && count > 0 && first + count <= s->width * s->height);
    for (int i = 0; i < s->n_parts; i++)
        if (first < s->parts[i].first + s->parts[i].count && s->parts[i].first < first + count)
            return file->read(file->state, first, count, buffer, error);
    return memset(buffer, 0, (size_t)count * sizeof *buffer);
}

static void assert_catalogue(const struct srcfind_catalogue *catalogue, const struct sparse *s,
                             const struct sky *sky) {
    const struct srcfind_background *b = srcfind_catalogue_background(catalogue);
    const int64_t n = s->width * s->height, n_kept = n - sky->n_bright;
    const double mean = (double)s->n_ones / (double)n_kept;
    assert_true(b->n_pixels == n && b->n_kept == n_kept && b->n_blank == 0 && b->median == 0);
    assert_true(fabs(b->rms / sqrt(mean * (1 - mean)) - 1) < 1e-12);
    assert_int_equal(srcfind_catalogue_size(catalogue), sky->n_sources);
    for (int i = 0; i < sky->n_sources; i++) {
        const struct srcfind_source *row = srcfind_catalogue_source(catalogue, i);
        const struct expected *e = &sky->sources[i];
        assert_true(row->x == e->x && row->y == (double)e->y_peak);
        assert_true(row->x_peak == e->x_peak && row->y_peak == e->y_peak);
        assert_true(row->n_pixels == e->n_pixels && row->pixel_sum == e->sum);
    }
}

/* JSON has the numbers, too. */
static void assert_json(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                        const struct expected *last) {
    char *text = NULL, number[64];
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(srcfind_catalogue_write(finder, catalogue, "json", stream), SRCFIND_OK);
    fclose(stream);
    snprintf(number, sizeof number, "\"n_pixels\":%lld,",
             (long long)srcfind_catalogue_background(catalogue)->n_pixels);
    assert_non_null(strstr(text, number));
    snprintf(number, sizeof number, "\"Xposn\":%lld,\"Yposn\":%lld,", (long long)last->x,
             (long long)last->y_peak);
    assert_non_null(strstr(text, number));
    free(text);
}

/* Searches an image of zeros and ones with bright pixels. It takes too long with sanitizers. */
static void check(int64_t width, int64_t height, const struct sky *sky) {
    struct sparse s;
    if (UNIT_FEWER > 1)
        skip();
    sparse_make(&s, width, height);
    write_ones(&s);
    for (int i = 0; i < sky->n_bright; i++)
        write_part(&s, sky->bright[i].y * width + sky->bright[i].x, &sky->bright[i].value, 1);
    struct srcfind_options *options =
        options_with("kappa", "1000", "threshold", "1000", "device", "cpu", "threads", "2",
                     sky->divides ? "deblend" : NULL, "yes", NULL);
    struct srcfind_catalogue *catalogue = catalogue_create();
    struct result *result = &catalogue->all->result;
    struct srcfind *finder;
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    assert_int_equal(input_open(&s.input, s.path, &finder->options, finder->threads, &result->image,
                                &finder->error),
                     SRCFIND_OK);
    s.input.pixels.state = &s;
    s.input.pixels.read = read_sparse;
    assert_int_equal(find_catalogue(finder, &s.input, result), SRCFIND_OK);
    catalogue_complete(catalogue);
    assert_catalogue(catalogue, &s, sky);
    assert_json(finder, catalogue, &sky->sources[sky->n_sources - 1]);
    input_close(&s.input);
    sparse_remove(&s);
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
}

static void longest_row(void **state) {
    enum { HALF = 1 << 30, LAST = INT32_MAX - 1 };
    static const struct sky sky = {.bright = {{HALF, 0, 200}, {LAST, 0, 200}},
                                   .sources = {{HALF, 0, 1, HALF, 200}, {LAST, 0, 1, LAST, 200}},
                                   .n_bright = 2,
                                   .n_sources = 2};
    (void)state;
    check(INT32_MAX, 1, &sky);
}

/* The island in the last row has two sources. */
static void longest_columns(void **state) {
    enum { HALF = 1 << 30, LAST = INT32_MAX - 1 };
    static const struct sky sky = {
        .bright = {{0, HALF, 200}, {0, LAST, 200}, {1, LAST, 50}, {2, LAST, 150}},
        .sources = {{0, HALF, 1, 0, 200}, {0, LAST, 2, 0.2, 250}, {2, LAST, 1, 2, 150}},
        .n_bright = 4,
        .n_sources = 3,
        .divides = true};
    (void)state;
    check(3, INT32_MAX, &sky);
}

static void longer_axes(void **state) {
    const int64_t longer = INT32_MAX + 1ll;
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    struct sparse s;
    (void)state;
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    for (int i = 0; i < 2; i++) {
        sparse_make(&s, i == 0 ? longer : 1, i == 0 ? 1 : longer);
        assert_int_equal(srcfind_find_file(finder, s.path, &catalogue), SRCFIND_ERROR_INPUT);
        assert_non_null(
            strstr(srcfind_message(finder), "2147483648 pixels is longer than 2147483647"));
        sparse_remove(&s);
    }
    srcfind_destroy(finder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longest_row),
        cmocka_unit_test(longest_columns),
        cmocka_unit_test(longer_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
