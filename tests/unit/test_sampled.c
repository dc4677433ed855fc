/* The sample that is kept of what is read: the same pixels, however they are read. */
#include <stdlib.h>

#include "input/memory_source.h"
#include "input/sampled.h"
#include "unit.h"

static const int shapes[][2] = {{1, 1},     {3, 2},     {90, 91},   {300, 256}, {1, 20000},
                                {20000, 1}, {70000, 3}, {129, 127}, {511, 64},  {4000, 200}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Pixels whose values are their indices. */
static uint32_t *make_pixels(int64_t n, bool swapped) {
    uint32_t *pixels = malloc((size_t)n * sizeof *pixels);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = exact_bits((float)i);
        pixels[i] = swapped ? __builtin_bswap32(bits) : bits;
    }
    return pixels;
}

struct pieces {
    const struct pixel_source *source;
    struct random random[4];
};

/* Reads all pixels, in pieces of any length, some of them twice; other threads do the same. */
static void read_all(void *context, int i) {
    struct pieces *r = context;
    const int64_t n = r->source->width * r->source->height;
    struct error error;
    for (int64_t first = 0; first < n;) {
        const int64_t most = n - first < 3000 ? n - first : 3000;
        const int64_t count = 1 + (int64_t)(random_bits(&r->random[i]) % (uint64_t)most);
        uint32_t *buffer = malloc((size_t)count * sizeof *buffer);
        r->source->read(r->source->state, first, count, buffer, &error);
        free(buffer);
        first += random_bits(&r->random[i]) % 8 ? count : 0;
    }
}

/* Rows and columns are at equal distances, but for rounding, from the first to the last. */
static void assert_even(const struct sampled *s, const struct pixel_source *source) {
    for (int64_t r = 0; r < s->n_rows; r++) {
        const int64_t row = (2 * r + 1) * source->height / (2 * s->n_rows) * source->width;
        for (int64_t c = 0; c < s->n_columns; c++)
            assert_true(sampled_value(s, r, c) == (float)(row + s->step / 2 + c * s->step));
    }
    assert_true(s->step / 2 + s->n_columns * s->step >= source->width);
}

static void every_shape(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        for (int swapped = 0; swapped < 2; swapped++) {
            const int64_t width = shapes[i][0], height = shapes[i][1], n = width * height;
            uint32_t *pixels = make_pixels(n, swapped);
            struct memory memory = {pixels, width, width};
            const struct pixel_source stored = memory_source(&memory, height, swapped);
            struct sampled sampled;
            struct pixel_source source;
            assert_true(sampled_source(&sampled, &stored, &source));
            assert_true(isnan(sampled_value(&sampled, 0, 0)));
            struct pieces pieces = {&source, {{1}, {2}, {3}, {4}}};
            threads_run(unit_threads(4), 4, read_all, &pieces);
            assert_even(&sampled, &stored);
            const int64_t kept = sampled.n_rows * sampled.n_columns;
            assert_true(n <= 1 << 13 ? kept == n : kept >= 1 << 12 && kept < 1 << 14);
            sampled_clear(&sampled);
            free(pixels);
        }
    }
}

/* Axes as long as they may be; nothing is read. */
static void longest_axes(void **state) {
    static const int64_t longest[][2] = {
        {INT32_MAX, INT32_MAX}, {INT32_MAX, 1}, {1, INT32_MAX}, {100, INT32_MAX}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct pixel_source stored = {.width = longest[i][0], .height = longest[i][1]};
        struct sampled sampled;
        struct pixel_source source;
        assert_true(sampled_source(&sampled, &stored, &source));
        assert_true(sampled.n_rows * sampled.n_columns < 1 << 14);
        sampled_clear(&sampled);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape),
                                       cmocka_unit_test(longest_axes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
