/* The order of fits: each job once, by falling cost; and which of them the host carries out beside
 * a device. */
#include "cpu/fit_order.h"

#include "common/random.h"
#include "unit.h"

enum { JOBS = 5000, WARPS = 2112, THREADS = 16, SLOWNESS = 35 };

static struct fit_job jobs[JOBS];

static void set_job(int64_t i, int32_t n_pixels, int32_t n_components) {
    jobs[i] = (struct fit_job){.n_pixels = n_pixels, .set.n = n_components};
}

static int64_t share(int64_t n, int64_t n_least) {
    struct fit_order order;
    assert_true(fit_order_make(&order, jobs, n, unit_threads(3)));
    const int64_t result =
        fit_order_share(&order, n_least, n < WARPS ? n : WARPS, THREADS, SLOWNESS);
    fit_order_clear(&order);
    return result;
}

static void falling_costs(void **state) {
    (void)state;
    for (int64_t n = 0; n <= JOBS; n = 3 * n + 1) {
        static bool seen[JOBS];
        struct fit_order order;
        memset(seen, 0, sizeof seen);
        for (int64_t i = 0; i < n; i++)
            set_job(i, 1 + (int32_t)(60000 * pow(random_number(1, (uint64_t)n, (uint64_t)i, 0), 6)),
                    (int32_t)(12 * random_number(1, (uint64_t)n, (uint64_t)i, 1)));
        assert_true(fit_order_make(&order, jobs, n, unit_threads(4)));
        assert_int_equal(order.n, n);
        for (int64_t i = 0; i < n; i++) {
            const int32_t job = order.job[i];
            assert_false(seen[job]);
            seen[job] = true;
            if (i > 0)
                assert_true(order.cost[job] < 2 * order.cost[order.job[i - 1]]);
        }
        fit_order_clear(&order);
    }
}

/* Equal jobs: all are the host's where these are few; none, where they are many. */
static void equal_jobs(void **state) {
    (void)state;
    for (int64_t i = 0; i < JOBS; i++)
        set_job(i, 100, 1);
    assert_int_equal(share(0, 0), 0);
    assert_int_equal(share(1, 0), 1);
    assert_int_equal(share(THREADS * SLOWNESS, 0), THREADS * SLOWNESS);
    assert_int_equal(share(THREADS * SLOWNESS + 200, 0), THREADS * SLOWNESS);
    assert_int_equal(share(JOBS, 0), 0);
    assert_int_equal(share(JOBS, 7), 7);
}

/* A job for which the device would wait is the host's. */
static void long_jobs(void **state) {
    (void)state;
    for (int64_t i = 0; i < JOBS; i++)
        set_job(i, 100, 1);
    set_job(1234, 1000, 8);
    set_job(77, 900, 8);
    assert_int_equal(share(JOBS, 0), 2);
    set_job(1234, 130, 1); /* no longer than the others take together */
    set_job(77, 130, 1);
    assert_int_equal(share(JOBS, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falling_costs),
        cmocka_unit_test(equal_jobs),
        cmocka_unit_test(long_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
