/* Which islands of a scale are sources, which join one, and which are neither: near each limit. */
#include "measure/scale_islands.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* The effective beam has the second moments 4 + 12 pixels^2, and a FWHM of 9.42 pixels: an area of
 * 2 pi 16 / 4 = 25.1 samples. That of the beam is 4.71 pixels. The rms is 1, and the noise of all
 * samples of an island is the same: it adds up. */
static struct grid grid = {.scale = 2,
                           .step = 2,
                           .x = 1,
                           .y = 1,
                           .variance = 12,
                           .width = 400,
                           .height = 400,
                           .beam = {4, 4, 0}};

enum { UNIT = -30 };

/* An island of n samples and its sum, with its highest sample at pixel (x, y). */
struct given {
    double peak;
    int n;
    double sum;
    int x, y;
};

/* Each island has two runs. */
static struct segments islands_of(const struct given *given, int n) {
    struct segments s = {.n = n,
                         .islands = calloc((size_t)n + 1, sizeof *s.islands),
                         .runs = calloc(2 * (size_t)n + 1, sizeof *s.runs),
                         .first_run = calloc((size_t)n + 1, sizeof *s.first_run)};
    for (int i = 0; i < n; i++) {
        struct island *island = &s.islands[i];
        island->unit = UNIT;
        island->n_pixels = given[i].n;
        island->peak = (float)given[i].peak;
        island->x_peak = island->x_min = (given[i].x - 1) / 2; /* its centroid is there, too */
        island->y_peak = island->y_min = (given[i].y - 1) / 2;
        island->x_max = island->x_min;
        island->y_max = island->y_min;
        island_add(island, SUM_Q, (uint128)llrint(ldexp(given[i].sum, -UNIT)));
        s.runs[2 * i] = (struct run){i, 10 * i, 10 * i + 3};
        s.runs[2 * i + 1] = (struct run){i + 1, 10 * i, 10 * i + 5};
        s.first_run[i + 1] = 2 * (i + 1);
    }
    return s;
}

/* A search of the samples for islands above `island` rms, whose own threshold is 5 rms. */
static void divide_islands(struct segments *islands, double island,
                           const struct srcfind_source *rows, int n_rows,
                           struct scale_islands kinds[SCALE_ISLANDS]) {
    const struct image image = {.jansky = 1};
    const struct srcfind_image metadata = {.beam_pixels = 25};
    static const struct fit_frame far = {1e-3, 0, 1e-3, true, FIT_SHAPES_CHOSEN};
    const struct view view = {.image = &image,
                              .metadata = &metadata,
                              .grid = &grid,
                              .detection = {.threshold = 4, .island = island},
                              .result = {.noise = {.rms = 1}, .segments = *islands},
                              .correlation = correlation_of_beam(&far)};
    const struct fit_frame frame = {1, 0, 1, true, FIT_SHAPES_CHOSEN};
    assert_true(scale_islands_divide(&view, 5, &frame, rows, n_rows, kinds));
    segments_clear(islands);
}

static void divide(const struct given *given, int n, const struct srcfind_source *rows, int n_rows,
                   struct scale_islands kinds[SCALE_ISLANDS]) {
    struct segments islands = islands_of(given, n);
    divide_islands(&islands, 3, rows, n_rows, kinds);
}

/* The kind of an island beside these rows, and the row that it joins, or -1. */
static enum scale_island kind_of(struct given given, const struct srcfind_source *rows, int n_rows,
                                 int64_t *source) {
    struct scale_islands kinds[SCALE_ISLANDS];
    int kind = 0;
    divide(&given, 1, rows, n_rows, kinds);
    while (kind < SCALE_ISLANDS && kinds[kind].segments.n == 0)
        kind++;
    *source = kind == ISLAND_JOINS ? kinds[kind].source[0] : -1;
    scale_islands_clear(kinds);
    return kind;
}

static void assert_kind(double peak, int n, double sum, enum scale_island expected) {
    int64_t source;
    assert_int_equal(kind_of((struct given){peak, n, sum, 101, 101}, NULL, 0, &source), expected);
}

/* 30 samples have an error of 30. */
static void lone_islands(void **state) {
    (void)state;
    assert_kind(5.6, 30, 181, ISLAND_IS_SOURCE);
    assert_kind(5.6, 30, 179, ISLAND_IS_DOUBT);
    assert_kind(4.99, 30, 181, ISLAND_IS_LEFT);
    assert_kind(8.01, 30, 120, ISLAND_IS_SOURCE);
    assert_kind(7.99, 30, 120, ISLAND_IS_DOUBT);
    assert_kind(5.5, 31, 120, ISLAND_IS_SOURCE); /* 2 x 25.1 log(5.5 / 3) = 30.5 */
    assert_kind(5.5, 30, 120, ISLAND_IS_DOUBT);
}

/* An island must be larger than the effective beam, however low it is. */
static void low_islands(void **state) {
    struct scale_islands kinds[SCALE_ISLANDS];
    (void)state;
    for (int more = 0; more < 2; more++) {
        const struct given given = {5.01, 25 + more, 100, 101, 101};
        struct segments islands = islands_of(&given, 1);
        divide_islands(&islands, 5, NULL, 0, kinds);
        assert_int_equal(kinds[more ? ISLAND_IS_SOURCE : ISLAND_IS_DOUBT].segments.n, 1);
        scale_islands_clear(kinds);
    }
}

static const struct srcfind_source row = {.x = 55,
                                          .y = 57,
                                          .x_min = 50,
                                          .x_max = 60,
                                          .y_min = 52,
                                          .y_max = 62,
                                          .n_pixels = 100,
                                          .total_flux = 100};

static void assert_beside(double peak, int n, int x, int y, const struct srcfind_source *of,
                          enum scale_island expected) {
    int64_t source;
    assert_int_equal(kind_of((struct given){peak, n, 120, x, y}, of, 1, &source), expected);
    assert_int_equal(source, expected == ISLAND_JOINS ? 0 : -1);
}

/* Within 1.5 beams of the box, 7.06 pixels. */
static void beside_a_source(void **state) {
    struct srcfind_source other = row;
    (void)state;
    assert_beside(4.5, 30, 67, 57, &row, ISLAND_JOINS);
    assert_beside(4.5, 30, 69, 57, &row, ISLAND_IS_LEFT);
    assert_beside(4.5, 30, 55, 69, &row, ISLAND_JOINS);
    assert_beside(4.5, 30, 55, 71, &row, ISLAND_IS_LEFT);
    assert_beside(4.5, 30, 43, 45, &row, ISLAND_JOINS);
    assert_beside(4.5, 30, 41, 45, &row, ISLAND_IS_LEFT);
    assert_beside(5.5, 31, 67, 57, &row, ISLAND_JOINS); /* it is wide, but not alone */
    assert_beside(5.5, 31, 69, 57, &row, ISLAND_IS_SOURCE);
    assert_beside(8.5, 30, 55, 57, &row, ISLAND_IS_SOURCE); /* it is certain */
    other.flags = SRCFIND_FLAG_NOT_FITTED;                  /* none can join it */
    assert_beside(4.5, 30, 55, 57, &other, ISLAND_IS_LEFT);
    assert_beside(5.5, 31, 55, 57, &other, ISLAND_IS_DOUBT);
    other = (struct srcfind_source){.x = 55,
                                    .y = 57,
                                    .n_pixels = SRCFIND_EMPTY,
                                    .total_flux = 100}; /* it has only a position */
    assert_beside(4.5, 30, 61, 57, &other, ISLAND_JOINS);
    assert_beside(4.5, 30, 63, 57, &other, ISLAND_IS_LEFT);
}

/* What joins has less flux than the source, and its centroid near. Else it is left to the next
 * scale, however high it is. */
static void no_rests(void **state) {
    struct srcfind_source other = row;
    (void)state;
    other.total_flux = 120 * 4 / 25. + 0.1; /* the sum, at 4 pixels a sample and 25 a beam */
    assert_beside(4.5, 30, 55, 57, &other, ISLAND_JOINS);
    other.total_flux -= 0.2;
    assert_beside(4.5, 30, 55, 57, &other, ISLAND_IS_LEFT);
    assert_beside(5.5, 31, 55, 57, &other, ISLAND_IS_LEFT);
    for (int more = 6; more <= 8; more += 2) { /* samples from the peak to the centroid */
        struct scale_islands kinds[SCALE_ISLANDS];
        const struct given given = {4.5, 30, 120, 55, 57};
        struct segments islands = islands_of(&given, 1);
        island_add(islands.islands, SUM_QX, (uint128)llrint(ldexp(120 * more, -UNIT)));
        divide_islands(&islands, 3, &row, 1, kinds);
        assert_int_equal(kinds[ISLAND_JOINS].segments.n, more == 6); /* 67 and 71 */
        scale_islands_clear(kinds);
    }
}

/* Half of an effective beam is more than 1.5 beams at larger scales: 11.8 pixels where the kernel
 * has 96 pixels^2. What is wide is then a source from 1.5 beams on. */
static void beside_at_a_larger_scale(void **state) {
    const struct grid before = grid;
    (void)state;
    grid.variance = 96; /* the effective beam has 157 samples */
    assert_beside(4.5, 30, 71, 57, &row, ISLAND_JOINS);
    assert_beside(4.5, 30, 73, 57, &row, ISLAND_IS_LEFT);
    assert_beside(5.5, 30, 71, 57, &row, ISLAND_JOINS);
    assert_beside(5.5, 30, 73, 57, &row, ISLAND_IS_DOUBT);
    assert_beside(5.5, 191, 71, 57, &row, ISLAND_IS_SOURCE); /* 2 x 157 log(5.5 / 3) = 190.4 */
    assert_beside(5.5, 191, 67, 57, &row, ISLAND_JOINS);
    grid = before;
}

/* Of several sources the one is joined whose flux is the highest there. */
static void several_sources(void **state) {
    struct srcfind_source rows[] = {row, row, row};
    int64_t source;
    (void)state;
    rows[1].x = 59;
    rows[2].flags = SRCFIND_FLAG_NOT_FITTED;
    assert_int_equal(kind_of((struct given){4.5, 30, 120, 61, 57}, rows, 3, &source), ISLAND_JOINS);
    assert_int_equal(source, 1);
    rows[0].total_flux = 400; /* exp((6^2 - 2^2) / 32) = 2.7 */
    assert_int_equal(kind_of((struct given){4.5, 30, 120, 61, 57}, rows, 3, &source), ISLAND_JOINS);
    assert_int_equal(source, 0);
    rows[0].total_flux = -200;
    assert_int_equal(kind_of((struct given){4.5, 30, 120, 61, 57}, rows, 3, &source), ISLAND_JOINS);
    assert_int_equal(source, 1);
}

/* Islands keep their order and their runs, in whatever order their peaks are. */
static void order(void **state) {
    const struct given given[] = {{9, 30, 300, 101, 301},  {4.5, 30, 120, 55, 57},
                                  {5.5, 20, 60, 101, 201}, {9, 30, 300, 101, 101},
                                  {4.5, 20, 60, 201, 1},   {4.5, 30, 120, 53, 55}};
    static const enum scale_island expected[] = {ISLAND_IS_SOURCE, ISLAND_JOINS,   ISLAND_IS_DOUBT,
                                                 ISLAND_IS_SOURCE, ISLAND_IS_LEFT, ISLAND_JOINS};
    struct segments all = islands_of(given, 6);
    struct scale_islands kinds[SCALE_ISLANDS];
    int seen[SCALE_ISLANDS] = {0};
    (void)state;
    divide(given, 6, &row, 1, kinds);
    for (int i = 0; i < 6; i++) {
        if (expected[i] == ISLAND_IS_LEFT)
            continue;
        const struct segments *s = &kinds[expected[i]].segments;
        const int k = seen[expected[i]]++;
        assert_true(k < s->n);
        assert_memory_equal(&s->islands[k], &all.islands[i], sizeof *s->islands);
        assert_int_equal(s->first_run[k], 2 * k);
        assert_memory_equal(&s->runs[2 * k], &all.runs[2 * i], 2 * sizeof *s->runs);
    }
    for (int kind = 0; kind < SCALE_ISLANDS; kind++)
        assert_int_equal(kinds[kind].segments.n, seen[kind]);
    scale_islands_clear(kinds);
    segments_clear(&all);
}

/* The threshold beside a source is not below that of islands, nor above that of the search. */
static void thresholds(void **state) {
    (void)state;
    assert_true(scale_islands_threshold(&(struct detection){.threshold = 5, .island = 3}) == 4);
    assert_true(scale_islands_threshold(&(struct detection){.threshold = 5, .island = 4.5}) == 4.5);
    assert_true(scale_islands_threshold(&(struct detection){.threshold = 5, .island = 5}) == 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lone_islands),    cmocka_unit_test(low_islands),
        cmocka_unit_test(beside_a_source), cmocka_unit_test(beside_at_a_larger_scale),
        cmocka_unit_test(no_rests),        cmocka_unit_test(several_sources),
        cmocka_unit_test(order),           cmocka_unit_test(thresholds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
