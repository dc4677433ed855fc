/* Local noise on the CPU against the plain version, on ordinary and adversarial pictures; with any
 * boxes, number of threads, memory, chunk sizes, byte orders and kernels. */
#include <stdio.h>
#include <stdlib.h>

#include "agreement.h"
#include "cpu/left_out.h"
#include "cpu/noise_nodes.h"
#include "cpu/variants.h"

/* Searches a picture in some way that must not matter. */
static void check(const struct picture *p, const struct detection *d, struct random *r) {
    static const int64_t chunks[] = {1 << 16, 5000, 4096, 1000, 64};
    struct detection_result result;
    struct error error;
    struct memory_source *m = memory_source_make(p, chunks[random_below(r, 5)], random_below(r, 2),
                                                 random_below(r, 4) > 0);
    char cells[32];
    snprintf(cells, sizeof cells, "%d", 1 << random_below(r, 28));
    setenv("SRCFIND_CELLS_BYTES", cells, 1);
    setenv("SRCFIND_WIDE_BAND", random_below(r, 2) ? "1" : "5000", 1);
    setenv("SRCFIND_SIMD", cpu_variants[random_below(r, n_cpu_variants)].name, 1);
    const enum srcfind_status status =
        cpu_detect(&m->source, d, unit_threads(1 + random_below(r, 7)), &result, &error);
    if (status == SRCFIND_OK)
        assert_agrees_locally(&result, p, d);
    else
        assert_non_null(strstr(error.text, "finite"));
    detection_result_clear(&result);
    memory_source_free(m);
}

/* Widens the steps where the plain version, which sorts the pixels of each box, would take longer
 * than for all other pictures together. */
static void bound_work(const struct picture *p, struct detection *d) {
    enum { MOST = 150000 };
    const int64_t box =
        (d->box < p->width ? d->box : p->width) * (d->box < p->height ? d->box : p->height);
    while (d->step < d->box && p->width / d->step * (p->height / d->step) * box > MOST)
        d->step++;
}

static void small_pictures(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 2000 / UNIT_FEWER; i++) {
        struct picture p =
            picture_make(i % PICTURE_KINDS, 1 + random_below(&r, 90), 1 + random_below(&r, 90), &r);
        struct detection d = random_detection(&r);
        random_boxes(&r, &d);
        bound_work(&p, &d);
        print_message("%d: %s, %d x %d, boxes of %d every %d\n", i, picture_name(i % PICTURE_KINDS),
                      p.width, p.height, (int)d.box, (int)d.step);
        check(&p, &d, &r);
        picture_free(&p);
    }
}

/* So many rows of nodes that several threads take bands of them. */
static void large_pictures(void **state) {
    struct random r = {2};
    (void)state;
    for (int i = 0; i < 2 * PICTURE_KINDS / (UNIT_FEWER > 1 ? 4 : 1); i++) {
        struct picture p = picture_make(i % PICTURE_KINDS, 150 + random_below(&r, 200),
                                        200 + random_below(&r, 300), &r);
        struct detection d = random_detection(&r);
        d.box = 12 + random_below(&r, 40);
        d.step = d.box / 3;
        d.beam_squared = 1 + random_below(&r, 10);
        print_message("%d: %s, %d x %d, boxes of %d every %d\n", i, picture_name(i % PICTURE_KINDS),
                      p.width, p.height, (int)d.box, (int)d.step);
        check(&p, &d, &r);
        picture_free(&p);
    }
}

/* A source whose peak is 8 to 10 times the noise of its own coarse box, and more by that between
 * its node and the next one, where the noise is a tenth: it is left out, if it is above 10 times.
 */
static void peaks_between_nodes(void **state) {
    enum { SIDE = 400, EDGE = 192 /* of a coarse box */, X = 180, Y = 210 };
    struct random r = {3};
    (void)state;
    for (int i = 0; i < 20 / UNIT_FEWER; i++) {
        struct picture p = {SIDE, SIDE, malloc(SIDE * SIDE * sizeof *p.pixels)};
        struct detection d = detection_with(3);
        d.box = EDGE / 16;
        d.step = d.box / 3;
        d.beam_squared = 1;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                const double square = (x - X) * (x - X) + (y - Y) * (y - Y);
                p.pixels[y * SIDE + x] = (float)((x < EDGE ? 1 : 0.1) * random_normal(&r) +
                                                 (8 + 0.1 * i) * exp(-square / 18));
            }
        check(&p, &d, &r);
        picture_free(&p);
    }
}

/* Clips all boxes, and those with pixels that are left out again: as if all were clipped without
 * these. */
static void clipped_again(void **state) {
    struct random r = {4};
    struct error error;
    (void)state;
    for (int i = 0; i < 60 / UNIT_FEWER; i++) {
        struct picture p =
            picture_make(0, 100 + random_below(&r, 300), 100 + random_below(&r, 300), &r);
        const int64_t n_pixels = (int64_t)p.width * p.height;
        struct detection d = detection_with(3);
        struct noise_map map = {.rms = 1}, expected = {.rms = 1};
        struct left_out out = {.pixels = blanks_create(n_pixels)};
        d.box = 10 + random_below(&r, 30);
        d.step = 1 + random_below(&r, (int)d.box);
        for (int64_t k = 0; k < n_pixels; k++)
            p.pixels[k] = (float)random_normal(&r);
        struct memory_source *m = memory_source_make(&p, 4096, random_below(&r, 2), true);
        struct threads *threads = unit_threads(1 + random_below(&r, 7));
        for (int k = random_below(&r, 4); k >= 0; k--)
            blanks_add(out.pixels, random_below(&r, (int)n_pixels - 40), 1 + random_below(&r, 40));
        assert_int_equal(noise_nodes_find(&m->source, &d, threads, &map, &error), SRCFIND_OK);
        assert_int_equal(left_out_clip_rest(&m->source, &d, threads, &out, &expected, &error),
                         SRCFIND_OK);
        assert_int_equal(left_out_clip_again(&m->source, &d, threads, &out, &map, &error),
                         SRCFIND_OK);
        assert_memory_equal(map.nodes, expected.nodes,
                            (size_t)(map.n_x * map.n_y) * sizeof *map.nodes);
        noise_map_clear(&map);
        noise_map_clear(&expected);
        left_out_clear(&out);
        memory_source_free(m);
        picture_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pictures),
        cmocka_unit_test(large_pictures),
        cmocka_unit_test(peaks_between_nodes),
        cmocka_unit_test(clipped_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
