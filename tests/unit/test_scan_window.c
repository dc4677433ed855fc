/* The window of the CUDA scan says the same as the plan's bounds, for every float, and what it
 * takes for inliers can be summed up in integers. */
#include <math.h>

#include "backend/scan_window.h"
#include "unit.h"

static double random_real(struct random *r, double low, double high) {
    return low + (high - low) * random_below(r, 1 << 30) / (double)(1 << 30);
}

/* As the clip of a sample predicts them: a median within some rms of 0, in all magnitudes. */
static bool random_plan(struct random *r, struct scan_plan *plan) {
    const double rms = ldexp(random_real(r, 1, 2), random_below(r, 150) - 80);
    const double reach = random_below(r, 4) == 0 ? 5 : 0.1;
    const double median = random_below(r, 3) * random_real(r, -reach, reach) * rms;
    const struct clip_path path = {median - 0.01 * rms, median + 0.02 * rms, median - 3 * rms,
                                   median + 3 * rms};
    const struct detection d = {.kappa = 3,
                                .threshold = 5,
                                .island = 4,
                                .background = NAN,
                                .connectivity = 4,
                                .min_pixels = 1};
    return scan_plan_predict(plan, &path, median, rms, 1000 + random_below(r, 200000), &d);
}

static bool fit(struct scan_window *w, struct scan_plan *plan) {
    if (!scan_window_shape(w, plan))
        return false;
    const float outer[2] = {scan_window_bound(w, false, false), scan_window_bound(w, true, false)};
    const float inner[2] = {scan_window_bound(w, false, true), scan_window_bound(w, true, true)};
    return scan_window_finish(w, plan, outer, inner);
}

static bool in_window(const struct scan_window *w, float v) {
    return fabsf(scan_window_distance(w, v)) < w->half &&
           (!w->has_zero || fabsf(v) >= w->zero_band);
}

static bool in_plan(const struct scan_plan *p, float v) {
    return v > p->inlier_low && v < p->inlier_high && !(v >= p->median_low && v <= p->median_high);
}

static void check_value(const struct scan_window *w, const struct scan_plan *plan, float v) {
    const bool small = fabsf(v) < plan->zero_band;
    assert_int_equal(in_window(w, v), in_plan(plan, v) && !(w->has_zero && small));
    if (in_window(w, v)) {
        const float q = v * w->scale;
        assert_true(q == rintf(q) && fabsf(q) < 0x1p31f);
    }
}

/* The floats around a value. */
static void check_around(const struct scan_window *w, const struct scan_plan *plan, float v) {
    enum { NEIGHBOURS = 300 };
    const uint32_t key = exact_key(v);
    for (uint32_t k = key - NEIGHBOURS; k <= key + NEIGHBOURS; k++)
        check_value(w, plan, exact_unkey(k));
}

static void window_and_plan_agree(void **state) {
    struct random r = {7};
    int n_fit = 0, n_zero = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct scan_plan plan;
        struct scan_window w;
        if (!random_plan(&r, &plan) || !fit(&w, &plan))
            continue;
        const float bounds[] = {plan.inlier_low,  plan.median_low, plan.median_high,
                                plan.inlier_high, -plan.zero_band, plan.zero_band,
                                w.centre};
        for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
            check_around(&w, &plan, bounds[k]);
        n_fit++;
        n_zero += w.has_zero;
    }
    assert_true(n_fit > 2500 && n_zero > 200 && n_zero < n_fit - 200);
}

static void open_window_has_no_inliers(void **state) {
    const struct scan_plan all = scan_plan_all(3);
    const struct scan_window w = scan_window_open(&all);
    const float values[] = {0, 1, -1, 3, 1e30f, NAN, INFINITY, -INFINITY};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_false(in_window(&w, values[i]));
    assert_true(w.list_values && w.candidate == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_and_plan_agree),
        cmocka_unit_test(open_window_has_no_inliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
