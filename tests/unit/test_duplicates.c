/* Duplicates are those of a plain version, which compares each row with all that were taken. */
#include <math.h>
#include <stdlib.h>

#include "merge/duplicates.h"
#include "unit.h"

static int compare(const struct candidate *a, const struct candidate *b) {
    const double x[] = {a->at_edge, a->rms, -a->margin, a->image, a->row};
    const double y[] = {b->at_edge, b->rms, -b->margin, b->image, b->row};
    for (int i = 0; i < 5; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int by_preference(const void *a, const void *b) {
    return compare(a, b);
}

/* The angle between two positions, in radians. */
static double angle(const struct candidate *a, const struct candidate *b) {
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += pow(a->position[k] - b->position[k], 2);
    return 2 * asin(fmin(sqrt(square) / 2, 1));
}

/* Whether a row is a duplicate of the other one, which was taken; 2 where the last digit decides.
 */
static int is_duplicate_of(const struct candidate *c, const struct candidate *taken,
                           const struct reach *reach) {
    const double scale = (double)c->scale / SCALE_STEPS;
    const struct reach *a = &reach[c->image], *b = &reach[taken->image];
    const double most = fmax(a->radius * sqrt(1 + a->growth * scale * scale),
                             b->radius * sqrt(1 + b->growth * scale * scale));
    if (c->image == taken->image || c->is_negative != taken->is_negative ||
        c->scale != taken->scale || !(most > 0))
        return 0;
    return fabs(angle(c, taken) - most) < 1e-14 ? 2 : angle(c, taken) < most;
}

/* Sets `expected`; the rows of a set may be in any order. */
static void find_plainly(const struct candidate *given, int n, const struct reach *reach,
                         uint64_t *expected) {
    struct candidate *c = malloc((size_t)n * sizeof *c + 1);
    int *taken = malloc((size_t)n * sizeof *taken + 1), n_taken = 0;
    memcpy(c, given, (size_t)n * sizeof *c);
    qsort(c, (size_t)n, sizeof *c, by_preference);
    for (int i = 0; i < n; i++) {
        bool found = false;
        for (int k = 0; k < n_taken && !found; k++) {
            const int answer = is_duplicate_of(&c[i], &c[taken[k]], reach);
            assert_int_not_equal(answer, 2); /* else the test needs another seed */
            found = answer;
        }
        if (found)
            expected[c[i].row / 64] |= (uint64_t)1 << c[i].row % 64;
        else
            taken[n_taken++] = i;
    }
    free(c);
    free(taken);
}

static struct candidate at(double lon, double lat) {
    return (struct candidate){.position = {cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)}};
}

/* Rows of a few images: over a patch anywhere on the sky, around a pole, at few places, or all at
 * one. */
static struct candidate random_row(int kind, double lon, double lat, double size,
                                   struct random *r) {
    const double few = kind == 2 ? 1.0 / (1 + random_below(r, 6)) : 1;
    const double x = kind == 3   ? 0
                     : kind == 2 ? few
                                 : random_unit(r),
                 y = kind == 3 ? 0 : random_unit(r);
    struct candidate c = kind == 1 ? at(2 * M_PI * x, M_PI / 2 - size * y)
                                   : at(lon + size * x, lat + size * (kind == 2 ? few : y));
    c.image = random_below(r, 6);
    c.rms = 1 + random_below(r, 3);
    c.margin = random_below(r, 5);
    c.at_edge = random_below(r, 4) == 0;
    c.is_negative = random_below(r, 5) == 0;
    return c;
}

static void random_rows(void **state) {
    struct random r = {1};
    int64_t n_duplicates = 0, n_all = 0;
    (void)state;
    for (int i = 0; i < 4000 / UNIT_FEWER; i++) {
        enum { MOST = 600 };
        const int n = random_below(&r, i % 10 ? 60 : MOST), kind = random_below(&r, 4);
        const double lon = 7 * random_unit(&r), lat = 3 * (random_unit(&r) - 0.5);
        const double size = pow(10, -5 + 5 * random_unit(&r));
        struct reach reach[6];
        struct candidate c[MOST];
        uint64_t expected[MOST / 64 + 1] = {0}, found[MOST / 64 + 1] = {0};
        for (int k = 0; k < 6; k++)
            reach[k] = (struct reach){random_below(&r, 5) ? size * random_unit(&r) : (double)NAN,
                                      random_unit(&r)};
        for (int k = 0; k < n; k++) {
            c[k] = random_row(kind, lon, lat, size, &r);
            c[k].row = (uint32_t)k;
            c[k].scale = random_below(&r, 3) ? 0 : (uint16_t)(2 * SCALE_STEPS);
        }
        find_plainly(c, n, reach, expected);
        assert_true(duplicates_find(c, n, reach, found));
        assert_memory_equal(found, expected, sizeof found);
        for (int k = 0; k < n; k++)
            n_duplicates += found[k / 64] >> k % 64 & 1;
        n_all += n;
    }
    print_message("%lld of %lld are duplicates\n", (long long)n_duplicates, (long long)n_all);
    assert_true(n_duplicates > n_all / 20 && n_duplicates < n_all * 9 / 10);
}

/* The order of preference, criterion by criterion, and that it is strict: the distance is. */
static void preference(void **state) {
    static const struct candidate pairs[][2] = {
        {{.at_edge = false, .rms = 2}, {.at_edge = true, .rms = 1}},
        {{.rms = 1, .margin = 1}, {.rms = 2, .margin = 9}},
        {{.rms = 1, .margin = 9, .image = 1}, {.rms = 1, .margin = -3, .image = 0}},
        {{.rms = 1, .image = 0, .row = 9}, {.rms = 1, .image = 1, .row = 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int turned = 0; turned < 2; turned++) {
            struct candidate c[2] = {pairs[i][turned], pairs[i][1 - turned]};
            const struct reach reach[2] = {{1e-5, 1}, {1e-5, 1}};
            uint64_t found = 0;
            for (int k = 0; k < 2; k++) {
                const struct candidate place = at(1, 1);
                memcpy(c[k].position, place.position, sizeof place.position);
                c[k].row = (uint32_t)(k == turned ? 10 : 20);
                c[k].image = c[k].image == c[1 - k].image ? k : c[k].image;
            }
            assert_true(duplicates_find(c, 2, reach, &found));
            assert_int_equal(found, (uint64_t)1 << 20);
        }
}

/* Rows of one image are never duplicates of each other; without a radius none are. */
static void no_duplicates(void **state) {
    struct candidate c[100];
    const struct reach all[2] = {{1, 1}, {1, 1}}, none[2] = {{NAN, 1}, {NAN, 1}};
    uint64_t found[2] = {0};
    (void)state;
    for (uint32_t k = 0; k < 100; k++) {
        c[k] = at(0.1, 0.2);
        c[k].row = k;
    }
    assert_true(duplicates_find(c, 100, all, found));
    assert_true(duplicates_find(c, 0, all, found));
    for (uint32_t k = 0; k < 100; k++) {
        c[k] = at(0.1, 0.2);
        c[k].image = (int32_t)k % 2;
        c[k].row = k;
    }
    assert_true(duplicates_find(c, 100, none, found));
    assert_true(found[0] == 0 && found[1] == 0);
}

/* A million rows, each twice, all at one place, and in two dense clusters just beyond each other's
 * reach: nothing takes time that grows like the square. */
static void many_rows(void **state) {
    const int n = 1000000 / UNIT_FEWER;
    struct random r = {3};
    struct candidate *c = malloc((size_t)n * sizeof *c);
    const struct reach reach[2] = {{1e-6, 1}, {1e-6, 1}};
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        uint64_t *found = calloc((size_t)n / 64 + 1, sizeof *found);
        int64_t n_found = 0;
        for (int k = 0; k < n; k++) {
            const double lon = kind == 0 ? k / 2 * 1e-5 : kind == 1 ? 1 : 1 + k % 2 * 2e-6;
            c[k] = at(lon, kind == 2 ? 1e-7 * random_unit(&r) : 0);
            c[k].image = k % 2;
            c[k].row = (uint32_t)k;
            c[k].rms = 1 + random_unit(&r);
        }
        assert_true(duplicates_find(c, n, reach, found));
        for (int k = 0; k < n; k++)
            n_found += found[k / 64] >> k % 64 & 1;
        assert_int_equal(n_found, kind == 2 ? 0 : n / 2);
        free(found);
    }
    free(c);
}

/* All rows of an image with such a beam differ in sign or scale from those of the other: none is
 * compared with all of them. */
static void absurd_reach_of_all(void **state) {
    const int n = 1000000 / UNIT_FEWER;
    struct candidate *c = malloc((size_t)n * sizeof *c);
    uint64_t *found = calloc((size_t)n / 64 + 1, sizeof *found);
    const struct reach reach[2] = {{1e-7, 1}, {100, 1}};
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        int64_t n_found = 0;
        for (int k = 0; k < n; k++) {
            c[k] = at(k / 2 * 5e-6, k % 3 * 1e-5);
            c[k].image = k % 2;
            c[k].row = (uint32_t)k;
            c[k].rms = 1 + k % 7;
            c[k].is_negative = kind == 0 && k % 2 == 1;
            c[k].scale = (uint16_t)(kind == 1 ? k % 2 * SCALE_STEPS : kind == 2 ? k % 65536 : 0);
        }
        assert_true(duplicates_find(c, n, reach, found));
        for (int k = 0; k < n; k++)
            n_found += found[k / 64] >> k % 64 & 1;
        assert_int_equal(n_found, 0);
    }
    free(found);
    free(c);
}

/* One row of an image whose beam is as wide as the sky does not make others search all rows. */
static void absurd_reach(void **state) {
    const int n = 1000000 / UNIT_FEWER;
    struct candidate *c = malloc((size_t)n * sizeof *c);
    uint64_t *found = calloc((size_t)n / 64 + 1, sizeof *found);
    const struct reach reach[3] = {{1e-7, 1}, {1e-7, 1}, {100, 1}};
    int64_t n_found = 0;
    (void)state;
    for (int k = 0; k < n; k++) {
        c[k] = at(k * 5e-6, k % 3 * 1e-5);
        c[k].image = k % 2;
        c[k].row = (uint32_t)k;
        c[k].rms = 1 + k;
    }
    c[n / 2].image = 2;
    c[n / 2].is_negative = true; /* the others are positive */
    assert_true(duplicates_find(c, n, reach, found));
    for (int k = 0; k < n; k++)
        n_found += found[k / 64] >> k % 64 & 1;
    assert_int_equal(n_found, 0);
    free(found);
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_rows),   cmocka_unit_test(preference),
        cmocka_unit_test(no_duplicates), cmocka_unit_test(many_rows),
        cmocka_unit_test(absurd_reach),  cmocka_unit_test(absurd_reach_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
