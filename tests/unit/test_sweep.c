/* Candidates that no source can have are dropped while the image is read, and no others. */
#include <stdlib.h>

#include "cpu/runs.h"
#include "cpu/sweep.h"
#include "unit.h"

enum { WIDTH = 60, HEIGHT = 40, PIXELS = WIDTH * HEIGHT };

/* Runs of the pixels >= 1 of a random picture, of which few are >= 3. */
struct case_of_runs {
    struct run runs[PIXELS];
    float values[PIXELS];
    int64_t n, n_values;
};

static void make_runs(struct case_of_runs *c, double density, struct random *r) {
    *c = (struct case_of_runs){0};
    for (int32_t y = 0; y < HEIGHT; y++) {
        bool open = false;
        for (int32_t x = 0; x < WIDTH; x++) {
            const bool is = random_unit(r) < density;
            if (is && open)
                c->runs[c->n - 1].x1 = x;
            else if (is)
                c->runs[c->n++] = (struct run){y, x, x};
            if (is)
                c->values[c->n_values++] = random_below(r, 60) ? 1 : 3;
            open = is && x % 16 != 15; /* as chunks cut them */
        }
    }
}

/* By the plain way: whether each run is of a component that has a pixel >= peak, or a run up to the
 * row behind `first`, or from the row before `last` on. */
static void find_kept(const struct case_of_runs *c, const struct sweep *s, bool *kept) {
    const float *value = c->values;
    for (int64_t i = 0; i < c->n; i++) {
        kept[i] = c->runs[i].y <= s->first + 1 || c->runs[i].y >= s->last - 1;
        for (int32_t x = c->runs[i].x0; x <= c->runs[i].x1; x++)
            kept[i] |= *value++ >= s->peak;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t i = 0; i < c->n; i++) {
            for (int64_t j = 0; j < c->n; j++) {
                const struct run *a = &c->runs[i], *b = &c->runs[j];
                const bool cut = a->y == b->y && a->x1 + 1 == b->x0;
                const bool touch =
                    abs(a->y - b->y) == 1 && a->x0 <= b->x1 + s->reach && b->x0 <= a->x1 + s->reach;
                if ((cut || touch) && kept[i] != kept[j])
                    kept[i] = kept[j] = changed = true;
            }
        }
    }
}

static void drops_what_cannot_count(void **state) {
    static struct case_of_runs before, after;
    static bool kept[PIXELS];
    struct random r = {1};
    int64_t n_dropped = 0;
    (void)state;
    for (int i = 0; i < 60; i++) {
        const struct sweep sweep = {3, i % 2, random_below(&r, 8) - 1, 34 + random_below(&r, 8),
                                    NULL};
        make_runs(&before, 0.02 + 0.4 * random_unit(&r), &r);
        after = before;
        find_kept(&before, &sweep, kept);
        assert_true(sweep_runs(&sweep, after.runs, &after.n, after.values, &after.n_values));
        int64_t k = 0;
        const float *from = before.values, *to = after.values;
        for (int64_t j = 0; j < before.n; j++) {
            const int64_t count = before.runs[j].x1 - before.runs[j].x0 + 1;
            if (kept[j]) {
                assert_memory_equal(&after.runs[k++], &before.runs[j], sizeof(struct run));
                assert_memory_equal(to, from, (size_t)count * sizeof *to);
                to += count;
            }
            from += count;
        }
        assert_int_equal(after.n, k);
        assert_int_equal(after.n_values, to - after.values);
        n_dropped += before.n - after.n;
    }
    assert_true(n_dropped > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_what_cannot_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
