/* The backend is chosen that ends the run sooner, by what the searches of a run take. */
#include "gpu/choice.h"
#include "unit.h"

static const double START = 0.5;

/* The choice for an image of side^2 pixels in a run of n, of 16 threads that are shared by workers.
 */
static enum backend_choice choose(int n, double side, int workers, bool is_local, bool fits) {
    const struct search_work work = {side * side, is_local, fits, fits, false, false};
    const struct choice choice = {.expected = n};
    return choice_make(&choice, &work, 16, 16 / workers, START);
}

/* An image that was searched once. */
static void add(struct choice *choice, const struct search_work *work, bool on_gpu, double seconds,
                int own_threads) {
    if (!on_gpu)
        choice_add(choice, work, seconds, own_threads);
    choice_end_image(choice, work->n_pixels);
}

/* Measured on an H100 with 16 threads: who is faster in a whole run. */
static void measured_runs(void **state) {
    (void)state;
    assert_int_equal(choose(1, 2048, 1, true, true), CHOOSE_CPU);
    assert_int_equal(choose(1, 8192, 1, true, true), CHOOSE_CPU);
    assert_int_equal(choose(1, 32768, 1, false, false), CHOOSE_CPU);
    assert_int_equal(choose(1, 32768, 1, true, false), CHOOSE_GPU);
    assert_int_equal(choose(1, 32768, 1, true, true), CHOOSE_GPU);
    assert_int_equal(choose(40, 8192, 16, false, false), CHOOSE_CPU);
    assert_int_equal(choose(40, 8192, 16, true, false), CHOOSE_GPU);
    assert_int_equal(choose(40, 8192, 16, true, true), CHOOSE_GPU);
    assert_int_equal(choose(600, 2048, 16, true, false), CHOOSE_GPU_IF_FREE);
    assert_int_equal(choose(600, 2048, 16, true, true), CHOOSE_GPU_IF_FREE);
}

/* Small tiles at the end of a run: the device that works ends them sooner than a thread would begin
 * them. */
static void the_last_images(void **state) {
    const struct search_work work = {8192.0 * 8192, true, false, false, false, false};
    struct choice choice = {.expected = 40};
    (void)state;
    for (int i = 0; i < 39; i++)
        add(&choice, &work, true, 0.1, 1);
    assert_int_equal(choice_make(&choice, &work, 16, 1, 0), CHOOSE_GPU);
}

/* A run whose images take eight times as long as expected, as on a slow processor, is worth a
 * device sooner; one on many fast threads is not. */
static void what_a_run_takes(void **state) {
    const struct search_work work = {4096.0 * 4096, true, false, false, false, false};
    struct choice slow = {.expected = 60}, fast = slow;
    (void)state;
    assert_int_equal(choice_make(&slow, &work, 64, 1, START), CHOOSE_CPU);
    add(&slow, &work, false, 8 * 0.431, 1);
    assert_int_equal(choice_make(&slow, &work, 64, 1, START), CHOOSE_GPU);
    add(&fast, &work, false, 0.431, 1);
    assert_int_equal(choice_make(&fast, &work, 64, 1, START), CHOOSE_CPU);
}

/* A caller that searches one image after another: as much may come as there was. */
static void one_after_another(void **state) {
    const struct search_work work = {8192.0 * 8192, true, true, true, false, false};
    struct choice choice = {0};
    int n = 0;
    (void)state;
    for (; choice_make(&choice, &work, 16, 16, START) == CHOOSE_CPU; n++)
        add(&choice, &work, false, work.n_pixels * 47.7e-9 / 16, 16);
    assert_in_range(n, 2, 20);
}

/* The noise of an image and the islands of another one take nearly as long as two images. */
static void two_images(void **state) {
    const double side = 16384;
    const struct search_work one = {side * side, true, false, false, false, false};
    const struct search_work two = {side * side, true, false, false, true, false};
    const struct choice choice = {.expected = 1};
    (void)state;
    assert_int_equal(choice_make(&choice, &one, 16, 16, START), CHOOSE_CPU);
    assert_int_equal(choice_make(&choice, &two, 16, 16, START), CHOOSE_GPU);
}

/* Compressed tiles are unpacked by the host, whichever device searches them: with one noise, the
 * CPU is no slower. */
static void packed_images(void **state) {
    struct search_work work = {4096.0 * 4096, false, false, false, false, true};
    struct choice choice = {.expected = 200};
    (void)state;
    for (int i = 0; i < 20; i++)
        add(&choice, &work, false, work.n_pixels * 15.7e-9, 1);
    assert_int_equal(choice_make(&choice, &work, 16, 1, START), CHOOSE_CPU);
    work.is_local = work.divides = work.fits = true;
    assert_int_not_equal(choice_make(&choice, &work, 16, 1, START), CHOOSE_CPU);
}

/* An image with several searches, as with --negative, is one image. */
static void several_searches(void **state) {
    const struct search_work work = {8192.0 * 8192, true, true, true, false, false};
    struct choice choice = {.expected = 40};
    (void)state;
    for (int i = 0; i < 20; i++) {
        choice_add(&choice, &work, 3.2, 1);
        choice_add(&choice, &work, 3.2, 1);
        choice_end_image(&choice, work.n_pixels);
    }
    assert_int_equal(choice_make(&choice, &work, 16, 1, START), CHOOSE_GPU);
}

/* Of images of several sizes, those that follow are taken to be like those that were searched. */
static void pixels_of_others(void **state) {
    const struct search_work large = {16384.0 * 16384, true, true, true, false, false};
    const struct search_work small = {512.0 * 512, true, true, true, false, false};
    struct choice choice = {.expected = 30};
    (void)state;
    assert_int_equal(choice_make(&choice, &small, 16, 1, START), CHOOSE_CPU);
    add(&choice, &large, true, 1, 1);
    assert_int_not_equal(choice_make(&choice, &small, 16, 1, START), CHOOSE_CPU);
    for (int i = 0; i < 28; i++)
        add(&choice, &large, true, 1, 1);
    assert_int_equal(choice_make(&choice, &small, 16, 1, START), CHOOSE_CPU);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_runs),    cmocka_unit_test(the_last_images),
        cmocka_unit_test(what_a_run_takes), cmocka_unit_test(one_after_another),
        cmocka_unit_test(two_images),       cmocka_unit_test(packed_images),
        cmocka_unit_test(pixels_of_others), cmocka_unit_test(several_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
