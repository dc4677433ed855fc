/* The table of random numbers is the one of the FITS standard, and a pixel's number does not depend
 * on which pixels were asked for before it. */
#include "input/fits/dither.h"
#include "unit.h"

static float dither_number(struct dither *d, int64_t pixel) {
    int64_t n = 1;
    const float *number = dither_numbers(d, pixel, &n);
    assert_int_equal(n, 1);
    return *number;
}

/* Appendix I: the 10,000th state of the generator is 1043618065. Tile 1 begins at number
 * (int)(500 * first number), which is 0. */
static void numbers_are_the_standards(void **state) {
    struct dither d = dither_start(1);
    (void)state;
    assert_true(dither_number(&d, 0) == (float)(16807 / 2147483647.0));
    assert_true(dither_number(&d, 1) == (float)(282475249 / 2147483647.0));
    assert_true(dither_number(&d, DITHER_NUMBERS - 1) == (float)(1043618065 / 2147483647.0));
}

/* FITS standard 10.2.1, word by word: a walk ends with the table, and the next begins where the
 * next seed says. */
static void walks_follow_the_standard(void **state) {
    struct dither table = dither_start(1);
    float numbers[DITHER_NUMBERS];
    (void)state;
    for (int i = 0; i < DITHER_NUMBERS; i++)
        numbers[i] = dither_number(&table, i);
    for (int64_t tile = 9998; tile < 10004; tile++) {
        struct dither each = dither_start(tile), some = each;
        int seed = (int)((tile - 1) % DITHER_NUMBERS), next = (int)(numbers[seed] * 500);
        for (int64_t pixel = 0; pixel < 40000; pixel++) {
            assert_true(dither_number(&each, pixel) == numbers[next]);
            if (pixel % 12345 == 0)
                assert_true(dither_number(&some, pixel) == numbers[next]);
            if (++next == DITHER_NUMBERS) {
                seed = (seed + 1) % DITHER_NUMBERS;
                next = (int)(numbers[seed] * 500);
            }
        }
    }
}

/* As many as there are up to the end of the table, and no more than were asked for. */
static void numbers_in_a_row(void **state) {
    struct dither d = dither_start(1), each = d;
    int64_t n = 20000;
    const float *row = dither_numbers(&d, 9000, &n);
    (void)state;
    assert_int_equal(n, DITHER_NUMBERS - 9000);
    for (int64_t i = 0; i < n; i++)
        assert_true(row[i] == dither_number(&each, 9000 + i));
    n = 17;
    dither_numbers(&d, 10000, &n);
    assert_int_equal(n, 17);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_the_standards),
        cmocka_unit_test(walks_follow_the_standard),
        cmocka_unit_test(numbers_in_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
