/* Margins are the pixels within the radius that are not the island's own, as a search of the whole
 * image finds them. */
#include <stdio.h>
#include <stdlib.h>

#include "measure/margins.h"
#include "unit.h"

enum { MOST_SIDE = 60, MOST_PIXELS = MOST_SIDE * MOST_SIDE, MOST_ISLANDS = MOST_PIXELS };

/* Islands of a small image: the number of each pixel's island, from 1 in the order of their first
 * pixels; and their runs. */
struct labels {
    int width, height, n;
    int of[MOST_PIXELS];
    struct run runs[MOST_PIXELS];
    int first_run[MOST_ISLANDS + 1];
};

enum shape { SPECKS, BLOBS, STRIPES, RINGS, FULL, BORDER, SHAPES };

static bool is_set(enum shape shape, const struct labels *l, int x, int y, struct random *r) {
    const int right = l->width - 1 - x, top = l->height - 1 - y;
    switch (shape) {
    case SPECKS:
        return random_below(r, 12) == 0;
    case BLOBS:
        return random_below(r, 10) < 6;
    case STRIPES:
        return y % 5 < 3 || (y % 10 == 3 && x == 2);
    case RINGS:
        return (x < right ? x : right) % 7 < 2 && (y < top ? y : top) > 3;
    case FULL:
        return true;
    default:
        return x == 0 || y == 0 || right == 0 || top == 0;
    }
}

/* Gives the set pixels that touch pixel `start` its number. */
static void fill(struct labels *l, const bool *is_set_at, int start, int connectivity) {
    static int stack[9 * MOST_PIXELS];
    int n = 0;
    stack[n++] = start;
    while (n > 0) {
        const int at = stack[--n], x = at % l->width, y = at / l->width;
        if (l->of[at])
            continue;
        l->of[at] = l->n;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if ((connectivity == 8 || dx == 0 || dy == 0) && x + dx >= 0 && x + dx < l->width &&
                    y + dy >= 0 && y + dy < l->height && is_set_at[at + dy * l->width + dx])
                    stack[n++] = at + dy * l->width + dx;
    }
}

static void find_runs(struct labels *l) {
    int n = 0;
    for (int k = 1; k <= l->n; k++) {
        l->first_run[k - 1] = n;
        for (int at = 0; at < l->width * l->height; at++) {
            const int x = at % l->width;
            if (l->of[at] != k)
                continue;
            if (x > 0 && l->of[at - 1] == k)
                l->runs[n - 1].x1++;
            else
                l->runs[n++] = (struct run){at / l->width, x, x};
        }
    }
    l->first_run[l->n] = n;
}

static void make_labels(struct labels *l, enum shape shape, struct random *r) {
    static bool is_set_at[MOST_PIXELS];
    const int connectivity = random_below(r, 2) ? 8 : 4;
    l->width = 1 + random_below(r, MOST_SIDE);
    l->height = 1 + random_below(r, MOST_SIDE);
    l->n = 0;
    memset(l->of, 0, sizeof l->of);
    for (int at = 0; at < l->width * l->height; at++)
        is_set_at[at] = is_set(shape, l, at % l->width, at / l->width, r);
    for (int at = 0; at < l->width * l->height; at++)
        if (is_set_at[at] && !l->of[at]) {
            l->n++;
            fill(l, is_set_at, at, connectivity);
        }
    find_runs(l);
}

/* Whether a pixel is within the radius of island k. */
static bool is_near(const struct labels *l, int k, int x, int y, double radius) {
    for (int i = l->first_run[k]; i < l->first_run[k + 1]; i++) {
        const struct run *run = &l->runs[i];
        const double dx = x < run->x0 ? run->x0 - x : x > run->x1 ? x - run->x1 : 0;
        const double dy = run->y - y;
        if (dx * dx + dy * dy <= radius * radius)
            return true;
    }
    return false;
}

static void check_runs(const struct labels *l, int k, double radius, const struct margin *m) {
    int64_t run = 0, n = 0;
    for (int at = 0; at < l->width * l->height; at++) {
        const int x = at % l->width, y = at / l->width;
        if (l->of[at] == k + 1 || !is_near(l, k, x, y, radius))
            continue;
        assert_true(run < m->n_runs);
        const struct run *in = &m->runs[run];
        assert_true(in->y == y && in->x0 <= x && x <= in->x1);
        n++;
        run += x == in->x1;
    }
    assert_int_equal(run, m->n_runs);
    assert_int_equal(n, m->n_pixels);
}

static void check(const struct labels *l, double radius) {
    for (int k = 0; k < l->n; k++) {
        struct arena arena = {0};
        struct margin margin;
        assert_true(margin_find(l->runs + l->first_run[k], l->first_run[k + 1] - l->first_run[k],
                                radius, l->width, l->height, &arena, &margin));
        check_runs(l, k, radius, &margin);
        arena_clear(&arena);
    }
}

static void random_islands(void **state) {
    static const double radii[] = {0, 0.9, 1, 1.5, 2, 2.5, 5, 7.3, 30, 255};
    static struct labels labels;
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 900 / UNIT_FEWER; i++) {
        const enum shape shape = i % SHAPES;
        const double radius = radii[random_below(&r, shape == SPECKS ? 8 : 10)];
        make_labels(&labels, shape, &r);
        print_message("%d: shape %d, %d x %d, %d islands, radius %g\n", i, shape, labels.width,
                      labels.height, labels.n, radius);
        check(&labels, radius);
    }
}

/* A beam that a broken header makes huge takes no more than this. */
static void most_radius(void **state) {
    const struct run run = {1000, 2000, 2000};
    struct arena arena = {0};
    struct margin huge, most;
    (void)state;
    assert_true(margin_find(&run, 1, 1e300, 1 << 20, 1 << 20, &arena, &huge));
    assert_true(margin_find(&run, 1, MARGIN_MOST, 1 << 20, 1 << 20, &arena, &most));
    assert_int_equal(huge.n_runs, most.n_runs);
    assert_int_equal(huge.n_pixels, most.n_pixels);
    assert_int_equal(most.runs[0].y, 1000 - 144);
    assert_in_range(most.n_pixels, 64700, 65535); /* pi 144^2 */
    arena_clear(&arena);
}

/* At the far end of the largest image. */
static void far_end(void **state) {
    enum { SIDE = INT32_MAX };
    const struct run runs[] = {{SIDE - 2, SIDE - 4, SIDE - 3}, {SIDE - 1, SIDE - 3, SIDE - 1}};
    struct arena arena = {0};
    struct margin m;
    (void)state;
    assert_true(margin_find(runs, 2, 1, SIDE, SIDE, &arena, &m));
    const struct run expected[] = {{SIDE - 3, SIDE - 4, SIDE - 3},
                                   {SIDE - 2, SIDE - 5, SIDE - 5},
                                   {SIDE - 2, SIDE - 2, SIDE - 1},
                                   {SIDE - 1, SIDE - 4, SIDE - 4}};
    assert_int_equal(m.n_runs, 4);
    for (int i = 0; i < 4; i++)
        ASSERT_SAME(m.runs[i], expected[i]);
    assert_int_equal(m.n_pixels, 6);
    arena_clear(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_islands),
        cmocka_unit_test(most_radius),
        cmocka_unit_test(far_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
