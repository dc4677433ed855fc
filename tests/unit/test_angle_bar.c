/* The scale bar of a picture: round angles, and their labels. */
#include <math.h>

#include "output/picture/angle_bar.h"
#include "unit.h"

static void round_angles(void **state) {
    static const struct {
        double most; /* arcsec */
        const char *label;
    } known[] = {{1e-5, "0.01 mas"}, {0.07, "50 mas"},  {0.1, "0.1\u2033"}, {0.99, "0.5\u2033"},
                 {1, "1\u2033"},     {9.9, "5\u2033"},  {59.9, "30\u2033"}, {60, "1\u2032"},
                 {1700, "20\u2032"}, {3600, "1\u00b0"}, {17000, "2\u00b0"}, {4e5, "30\u00b0"}};
    char label[ANGLE_LABEL];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double angle = angle_bar_round(known[i].most / 3600);
        assert_true(angle <= known[i].most / 3600 * (1 + 1e-8));
        angle_bar_label(angle, label);
        assert_string_equal(label, known[i].label);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_angles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
