/* The grey levels of a picture, and the labels of their bar. */
#include <string.h>

#include "output/picture/stretch.h"
#include "unit.h"

static struct stretch stretch_with(double zero, double unit, double highest) {
    struct stretch s = {.zero = zero, .unit = unit};
    float mean = (float)highest;
    const struct block_means means = {1, 1, 1, &mean};
    stretch_to(&s, &means);
    return s;
}

/* Half and whole levels of some backgrounds and noises. */
static void labels(void **state) {
    static const struct {
        double zero, unit, highest;
        const char *labels[3];
    } known[] = {
        {0, 1, 0, {"-3", "1.63", "10"}},
        {0, 1e-5, 1000, {"-3e-05", "0.000248", "0.01"}},
        {1000, 1, 30, {"997", "1003.8", "1030"}},
        {-1e10, 1e4, 10, {"-1.000003e+10", "-9.999984e+09", "-9.9999e+09"}},
    };
    char label[STRETCH_LABEL];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct stretch s = stretch_with(known[i].zero, known[i].unit, known[i].highest);
        for (int k = 0; k < 3; k++) {
            stretch_label(&s, k / 2.0, label);
            assert_string_equal(label, known[i].labels[k]);
            assert_true(strlen(label) <= 13);
        }
    }
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
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(labels), cmocka_unit_test(colours),
                                       cmocka_unit_test(noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
