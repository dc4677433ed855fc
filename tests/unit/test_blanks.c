/* The pixels that are blank in any of several images: the same bits, in whichever pieces threads
 * read them. */
#include <stdlib.h>

#include "input/blanks.h"
#include "input/chunks.h"
#include "input/memory_source.h"
#include "unit.h"

enum { WIDTH = 701, HEIGHT = 300, N = WIDTH * HEIGHT, THREADS = 4 };

/* An image whose pixel i is NaN or infinite where i is a multiple of `blank`. */
struct sky {
    uint32_t pixels[N];
    struct memory memory;
    struct pixel_source source;
};

static struct sky *sky_make(int64_t blank, bool swapped) {
    struct sky *sky = malloc(sizeof *sky);
    for (int64_t i = 0; i < N; i++)
        sky->pixels[i] = pixel_bits(i % blank ? (float)i : i % 2 ? INFINITY : NAN, swapped);
    sky->memory = (struct memory){sky->pixels, WIDTH, WIDTH};
    sky->source = memory_source(&sky->memory, HEIGHT, swapped);
    return sky;
}

struct pieces {
    const struct pixel_source *source;
    struct random random[THREADS];
};

/* Reads all pixels, in pieces of any length; other threads do the same. */
static void read_pieces(void *context, int i) {
    struct pieces *r = context;
    struct error error;
    for (int64_t first = 0, count; first < N; first += count) {
        const int64_t most = N - first < 2000 ? N - first : 2000;
        count = 1 + (int64_t)(random_bits(&r->random[i]) % (uint64_t)most);
        uint32_t *buffer = malloc((size_t)count * sizeof *buffer);
        assert_non_null(r->source->read(r->source->state, first, count, buffer, &error));
        free(buffer);
    }
}

static void read_all(const struct pixel_source *source) {
    struct pieces pieces = {source, {{1}, {2}, {3}, {4}}};
    threads_run(unit_threads(THREADS), THREADS, read_pieces, &pieces);
}

/* Asserts that pixels are those of the sky, or NaN where is_blank is true of their numbers. */
static void assert_pixels(const struct pixel_source *source, bool (*is_blank)(int64_t i)) {
    uint32_t *pixels = malloc(N * sizeof *pixels);
    struct error error;
    assert_int_equal(chunks_copy(source, NULL, pixels, &error), SRCFIND_OK);
    for (int64_t i = 0; i < N; i++) {
        const float value = pixel_value(pixels, i, source->swapped);
        if (is_blank(i) ? isfinite(value) : value != (float)i)
            fail_msg("pixel %lld is %g", (long long)i, (double)value);
    }
    free(pixels);
}

static bool is_of_3(int64_t i) {
    return i % 3 == 0;
}

static bool is_of_3_or_7(int64_t i) {
    return i % 3 == 0 || i % 7 == 0;
}

/* What is read first adds its blank pixels to those of what is read after it, and the other way. */
static void two_images(void **state) {
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        struct sky *a = sky_make(3, swapped), *b = sky_make(7, !swapped);
        struct blanks *blanks = blanks_create(N);
        struct blanked of_a, of_b;
        const struct pixel_source in_a = blanked_source(&of_a, &a->source, blanks);
        const struct pixel_source in_b = blanked_source(&of_b, &b->source, blanks);
        read_all(&in_a);
        assert_int_equal(blanks->n_added, (N + 2) / 3);
        blanks->n_added = 0;
        read_all(&in_b);
        assert_int_equal(blanks->n_added, (N + 6) / 7 - (N + 20) / 21);
        blanks->is_complete = true;
        assert_pixels(&in_a, is_of_3_or_7);
        assert_pixels(&in_b, is_of_3_or_7);
        blanks_destroy(blanks);
        free(a);
        free(b);
    }
}

/* Blanks that are complete get none of what is read. */
static void complete(void **state) {
    struct sky *a = sky_make(3, false), *b = sky_make(7, false);
    struct blanks *blanks = blanks_create(N);
    struct blanked of_a, of_b;
    const struct pixel_source in_a = blanked_source(&of_a, &a->source, blanks);
    const struct pixel_source in_b = blanked_source(&of_b, &b->source, blanks);
    (void)state;
    blanks->is_complete = true;
    read_all(&in_b);
    assert_int_equal(blanks->n_added, 0);
    assert_pixels(&in_a, is_of_3);
    blanks_destroy(blanks);
    free(a);
    free(b);
}

static bool is_seventh(float value) {
    return (int64_t)value % 7 == 0;
}

/* A map that is read once tells by its values. */
static void a_map(void **state) {
    struct sky *a = sky_make(3, false), *map = sky_make(N + 1, true);
    struct blanks *blanks = blanks_create(N);
    struct blanked of_a;
    struct error error;
    const struct pixel_source in_a = blanked_source(&of_a, &a->source, blanks);
    (void)state;
    map->pixels[0] = pixel_bits(0, true);
    assert_int_equal(blanks_read(blanks, &map->source, is_seventh, unit_threads(THREADS), &error),
                     SRCFIND_OK);
    blanks->is_complete = true;
    assert_pixels(&in_a, is_of_3_or_7);
    blanks_destroy(blanks);
    free(a);
    free(map);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_images), cmocka_unit_test(complete),
                                       cmocka_unit_test(a_map)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
