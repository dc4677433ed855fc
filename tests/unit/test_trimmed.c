/* A part of an image has the pixels that the image has there, however they are read. */
#include <stdlib.h>
#include <string.h>

#include "input/memory_source.h"
#include "input/trimmed.h"
#include "unit.h"

enum { WIDTH = 37, HEIGHT = 29, MOST = WIDTH * HEIGHT };

struct counted {
    struct memory memory;
    bool copies, fails;
    int64_t n_read; /* pixels */
};

/* As a file or tiles do, gives the pixels in the buffer; or, as memory does, elsewhere. */
static const uint32_t *read_counted(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    struct counted *c = state;
    c->n_read += count;
    if (c->fails) {
        error_set(error, SRCFIND_ERROR_INPUT, "no pixels");
        return NULL;
    }
    assert_in_range(first + count, 1, MOST);
    if (!c->copies)
        return c->memory.pixels + first;
    memcpy(buffer, c->memory.pixels + first, (size_t)count * sizeof *buffer);
    return buffer;
}

static struct pixel_source counted_source(struct counted *c, bool packed) {
    struct pixel_source source = memory_source(&c->memory, HEIGHT, false);
    source.chunk_pixels = 4 * WIDTH;
    source.packed = packed;
    source.state = c;
    source.read = read_counted;
    return source;
}

static void the_pixels_of_the_part(void **state) {
    struct random r = {3};
    uint32_t pixels[MOST];
    (void)state;
    for (int i = 0; i < MOST; i++)
        pixels[i] = (uint32_t)i;
    for (int trial = 0; trial < 2000; trial++) {
        struct counted c = {{pixels, WIDTH, WIDTH}, trial & 1, false, 0};
        struct trimmed trimmed;
        struct error error;
        uint32_t buffer[MOST];
        const int x = random_below(&r, WIDTH), y = random_below(&r, HEIGHT);
        const int width = 1 + random_below(&r, WIDTH - x),
                  height = 1 + random_below(&r, HEIGHT - y);
        const bool packed = trial & 2;
        const struct pixel_source whole = counted_source(&c, packed);
        const struct pixel_source part = trimmed_source(&trimmed, &whole, x, y, width, height);
        assert_int_equal(part.width, width);
        assert_int_equal(part.height, height);
        assert_int_equal(part.chunk_pixels, packed ? 4 * width : 4 * WIDTH);
        const int first = random_below(&r, width * height);
        const int count = 1 + random_below(&r, width * height - first);
        const uint32_t *found = part.read(part.state, first, count, buffer, &error);
        for (int i = 0; i < count; i++) {
            const int at = first + i;
            assert_int_equal(found[i], (y + at / width) * WIDTH + x + at % width);
        }
        if (!packed) /* a pixel outside of the part costs nothing */
            assert_int_equal(c.n_read, count);
        c.fails = true;
        assert_null(part.read(part.state, first, count, buffer, &error));
        assert_string_equal(error.text, "no pixels");
    }
}

/* A packed source is asked once for all rows: each of them would cost the same. */
static void packed_rows_are_read_together(void **state) {
    uint32_t pixels[MOST] = {0}, buffer[MOST];
    struct counted c = {{pixels, WIDTH, WIDTH}, true, false, 0};
    struct trimmed trimmed;
    struct error error;
    (void)state;
    const struct pixel_source whole = counted_source(&c, true);
    const struct pixel_source part = trimmed_source(&trimmed, &whole, 5, 6, 10, 8);
    assert_non_null(part.read(part.state, 0, 80, buffer, &error));
    assert_int_equal(c.n_read, 7 * WIDTH + 10);
    c.n_read = 0;
    assert_non_null(part.read(part.state, 22, 3, buffer, &error));
    assert_int_equal(c.n_read, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pixels_of_the_part),
        cmocka_unit_test(packed_rows_are_read_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
