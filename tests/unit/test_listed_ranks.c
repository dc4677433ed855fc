/* Ranks among pixels of which a part is only counted, against sorting them all: each rank within
 * the median bracket is known, and none outside of it; also after the ends were cut off. */
#include <stdlib.h>

#include "backend/listed_ranks.h"
#include "unit.h"

enum { MOST = 40, REACH = 9 };

struct pixels {
    int n, n_listed;
    float all[MOST], listed[MOST]; /* both sorted */
};

static int by_value(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static bool is_inlier(const struct scan_plan *p, float v) {
    return v != 0 && v > p->inlier_low && v < p->inlier_high &&
           !(v >= p->median_low && v <= p->median_high);
}

static int count_below(const float *values, int n, float v, bool or_equal) {
    int count = 0;
    for (int i = 0; i < n; i++)
        count += values[i] < v || (or_equal && values[i] == v);
    return count;
}

static struct scan_plan random_plan(struct random *r) {
    struct scan_plan p = scan_plan_all(INFINITY);
    if (random_below(r, 8) == 0)
        return p;
    p.median_low = (float)(random_below(r, 9) - 4);
    p.median_high = p.median_low + (float)random_below(r, 3);
    p.inlier_low = p.median_low - (float)(1 + random_below(r, 4));
    p.inlier_high = p.median_high + (float)(1 + random_below(r, 4));
    return p;
}

static struct pixels random_pixels(const struct scan_plan *plan, struct random *r,
                                   struct listed_ranks *ranks) {
    struct pixels p = {.n = 1 + random_below(r, MOST)};
    *ranks = (struct listed_ranks){0};
    for (int i = 0; i < p.n; i++) {
        const float v = p.all[i] = (float)(random_below(r, 2 * REACH + 1) - REACH);
        ranks->n_zero += v == 0;
        ranks->n_inliers += is_inlier(plan, v);
        ranks->n_below += is_inlier(plan, v) && v < plan->median_low;
        if (v != 0 && !is_inlier(plan, v))
            p.listed[p.n_listed++] = v;
    }
    qsort(p.all, (size_t)p.n, sizeof *p.all, by_value);
    qsort(p.listed, (size_t)p.n_listed, sizeof *p.listed, by_value);
    ranks->last = p.n_listed;
    ranks->zero = count_below(p.listed, p.n_listed, 0, false);
    ranks->median_first = count_below(p.listed, p.n_listed, plan->median_low, false);
    ranks->median_last = count_below(p.listed, p.n_listed, plan->median_high, true);
    return p;
}

/* Pixels all[first] ... all[last - 1] are left. Returns how many ranks were known. */
static int check_ranks(const struct pixels *p, const struct listed_ranks *ranks,
                       const struct scan_plan *plan, int first, int last) {
    int n_known = 0;
    for (int k = 0; k < last - first; k++) {
        const float expected = p->all[first + k];
        int64_t i = -1;
        const enum listed_kind place = ranks_locate(ranks, plan, k, &i);
        const bool within = expected >= plan->median_low && expected <= plan->median_high;
        assert_int_equal(place != LISTED_UNKNOWN, within);
        if (within)
            assert_true((place == LISTED_ZERO ? 0 : p->listed[i]) == expected);
        n_known += within;
    }
    return n_known;
}

static void ranks_are_right_or_unknown(void **state) {
    struct random r = {1};
    int n_known = 0, n_trimmed = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const struct scan_plan plan = random_plan(&r);
        struct listed_ranks ranks;
        const struct pixels p = random_pixels(&plan, &r, &ranks);
        const float low = (float)(random_below(&r, 2 * REACH) - REACH);
        const float high = low + (float)random_below(&r, 2 * REACH);
        n_known += check_ranks(&p, &ranks, &plan, 0, p.n);
        if (!ranks_keep_inliers(&ranks, &plan, low, high))
            continue;
        const int first = count_below(p.all, p.n, low, false);
        const int last = count_below(p.all, p.n, high, true);
        const int64_t n = ranks_keep(&ranks, count_below(p.listed, p.n_listed, low, false),
                                     count_below(p.listed, p.n_listed, high, true), low, high);
        assert_int_equal(n, last - first);
        if (n > 0)
            check_ranks(&p, &ranks, &plan, first, last);
        n_trimmed += n > 0 && n < p.n;
    }
    assert_true(n_known > 10000 && n_trimmed > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_are_right_or_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
