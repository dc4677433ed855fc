/* The grey levels of a picture. */
#include <math.h>

#include "stretch.h"
#include "unit.h"

/* Levels and values are the same thing. */
static void levels(void **state) {
    const struct stretch s = stretch_with(1e3, 2, 500);
    (void)state;
    for (double level = -0.5; level <= 1.5; level += 0.25)
        assert_true(fabs(stretch_level(&s, stretch_value(&s, level)) - level) < 1e-12);
    assert_true(fabs(stretch_level(&s, -3)) < 1e-12 && fabs(stretch_level(&s, 500) - 1) < 1e-6);
}

/* White below -3 units, black at the highest value, light blue for none. */
static void colours(void **state) {
    const struct stretch s = stretch_with(5, 2, 50);
    (void)state;
    assert_int_equal(stretch_colour(&s, -3), 0xffffff);
    assert_int_equal(stretch_colour(&s, -40), 0xffffff);
    assert_int_equal(stretch_colour(&s, 50), 0);
    assert_int_equal(stretch_colour(&s, NAN), 0xd6e2f0);
    assert_int_equal(stretch_colour(&s, stretch_value(&s, 0.6)), 0x666666);
}

/* Local noise counts by its median. */
static void noise(void **state) {
    struct result c = {.background = {.median = 2, .rms = 3}};
    (void)state;
    assert_true(stretch_of_noise(&c).zero == 2 && stretch_of_noise(&c).unit == 3);
    c.background.box = 48;
    c.background.rms_median = 1.5;
    assert_true(stretch_of_noise(&c).unit == 1.5);
    c.background = (struct srcfind_background){.median = -4};
    assert_true(stretch_of_noise(&c).unit == 4);
    c.background = (struct srcfind_background){.median = 5, .box = 48, .rms_median = INFINITY};
    assert_true(stretch_of_noise(&c).unit == 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels), cmocka_unit_test(colours),
                                       cmocka_unit_test(noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
