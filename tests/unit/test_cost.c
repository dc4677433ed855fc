/* What is searched where, when the choice is left to srcfind. */
#include "gpu/cost.h"
#include "unit.h"

static const struct cost_device idle = {false, false, 0}, ready = {true, true, 1};

static void one_image(void **state) {
    const struct cost_host one = {1, 1}, many = {16, 1};
    (void)state;
    for (int threads = 1; threads <= 64; threads *= 2) {
        const struct cost_host host = {threads, 1};
        for (double side = 1; side <= 4096; side *= 2)
            assert_false(cost_is_worth_a_start(side * side, 1, &host));
        assert_true(cost_is_worth_a_start(1e6 * 1e6, 1, &host));
    }
    assert_true(cost_is_worth_a_start(16384. * 16384, 1, &one));
    assert_false(cost_is_worth_a_start(16384. * 16384, 1, &many));
    assert_int_equal(cost_choose(1e9, 1, &idle), COST_TOO_LITTLE_FOR_A_START);
}

static void more_threads_help(void **state) {
    (void)state;
    for (int threads = 1; threads < 64; threads++) {
        const struct cost_host host = {threads, 1}, more = {threads + 1, 1};
        assert_true(cost_of_cpu(1e8, &more) <= cost_of_cpu(1e8, &host));
        assert_true(cost_of_gpu(1e8, 1, &more) <= cost_of_gpu(1e8, 1, &host));
    }
}

/* Threads that share one image get less done than threads with an image each. */
static void many_at_a_time(void **state) {
    const struct cost_host shared = {16, 1}, each = {16, 16};
    const double pixels = 400 * 2048. * 2048;
    (void)state;
    assert_true(cost_of_cpu(pixels, &each) < cost_of_cpu(pixels, &shared) / 2);
    assert_true(cost_is_worth_a_start(pixels, 400, &shared));
    assert_false(cost_is_worth_a_start(pixels, 400, &each));
    assert_true(cost_is_worth_a_start(10 * pixels, 4000, &each));
}

/* Images that come one after the other: with the start when they have become worth it, no more is
 * spent than twice the best, and one image, that one knew how many there would be. */
static void within_a_factor_of_two(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        const int threads = 1 << i / 2;
        const struct cost_host host = {threads, i % 2 ? threads : 1};
        for (double side = 256; side <= 32768; side *= 2) {
            const double pixels = side * side;
            double spent = 0;
            bool started = false;
            for (int n = 1; n <= 2000; n++) {
                const bool start = !started && cost_is_worth_a_start(n * pixels, n, &host);
                const double last = cost_of_cpu(pixels, &host);
                started = started || start;
                spent += start ? COST_START : 0;
                spent += started ? cost_of_gpu(pixels, 1, &host) : last;
                const double on_cpu = cost_of_cpu(n * pixels, &host);
                const double on_gpu = COST_START + cost_of_gpu(n * pixels, n, &host);
                assert_true(spent <= 2 * fmin(on_cpu, on_gpu) + last);
            }
        }
    }
}

static void small_images_stay(void **state) {
    (void)state;
    for (int threads = 1; threads <= 64; threads *= 2) {
        const struct cost_host host = {threads, threads};
        assert_int_equal(cost_choose(300 * 256, threads, &ready), COST_SMALL);
        assert_int_equal(cost_choose(2048 * 2048, threads, &ready), COST_GPU);
        assert_false(cost_is_worth_a_start(1e4 * 1e5, 1e5, &host)); /* 100,000 tiny ones */
    }
}

/* Nobody waits longer for a start than the CPU takes. */
static void waiting(void **state) {
    struct cost_device starting = {true, false, 0};
    (void)state;
    assert_int_equal(cost_choose(2048 * 2048, 1, &starting), COST_SOONER_THAN_THE_START);
    assert_int_equal(cost_choose(1e9, 1, &starting), COST_GPU);
    starting.elapsed = COST_START - 1e-4;
    assert_int_equal(cost_choose(2048 * 2048, 1, &starting), COST_GPU);
    starting.elapsed = 5; /* a slow one: nobody knows */
    assert_int_equal(cost_choose(2048 * 2048, 1, &starting), COST_SOONER_THAN_THE_START);
    assert_int_equal(cost_choose(1e9, 1, &starting), COST_SOONER_THAN_THE_START);
    assert_int_equal(cost_choose(1e10, 1, &starting), COST_GPU);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_image),         cmocka_unit_test(more_threads_help),
        cmocka_unit_test(many_at_a_time),    cmocka_unit_test(within_a_factor_of_two),
        cmocka_unit_test(small_images_stay), cmocka_unit_test(waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
