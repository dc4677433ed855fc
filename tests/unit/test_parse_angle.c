/* Angles in sexagesimal notation: those that are read, with their values, and those that are not.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/parse_angle.h"

static void angles(void **state) {
    static const struct {
        const char *text;
        double degrees, in_hours;
    } cases[] = {
        {"04:35:32.4", 4 + 2132.4 / 3600, 15 * (4 + 2132.4 / 3600)},
        {"-04:35:32.4", -4 - 2132.4 / 3600, -15 * (4 + 2132.4 / 3600)},
        {"-0 0 36", -0.01, -0.15},
        {"  +80\t57  3.6 ", 80.951, 15 * 80.951},
        {"4 30.6", 4.51, 15 * 4.51},
        {"-80d57m03.6s", -80.951, -80.951},
        {"80d57'3.6\"", 80.951, 80.951},
        {"80d 57m 03.6s", 80.951, 80.951},
        {"4h30m36s", 15 * 4.51, 15 * 4.51},
        {"4h30.6", 15 * 4.51, 15 * 4.51},
        {"359:59:59.999", 359 + 3599.999 / 3600, 15 * (359 + 3599.999 / 3600)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int in_hours = 0; in_hours < 2; in_hours++) {
            const double expected = in_hours ? cases[i].in_hours : cases[i].degrees;
            double degrees = NAN;
            if (!parse_angle(cases[i].text, strlen(cases[i].text), in_hours, &degrees) ||
                fabs(degrees - expected) > 1e-13 * fmax(fabs(expected), 1))
                fail_msg("%s: %.17g, not %.17g", cases[i].text, degrees, expected);
        }
}

static void others(void **state) {
    static const char *const texts[] = {
        "",         "12",      "12.5",    "1:2:3:4", "1:2 3",    "1 2:3",   "10:60:00",
        "10:00:60", "1.5:2:3", "1:2.5:3", "a:b:c",   "1:2:",     "1::2",    ":1:2",
        "--1:2:3",  "1:-2:3",  "1h2s",    "1m2s",    "1:2m3s",   "1e2:3:4", "1:2:3 x",
        "1,5:2:3",  "nan:1:2", "1d2h3s",  "1 2 3 4", "1:2:3\"x", "1..2:3",  "12h",
    };
    double degrees;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (parse_angle(texts[i], strlen(texts[i]), false, &degrees))
            fail_msg("`%s` was read as %g", texts[i], degrees);
    assert_false(parse_angle("1:2:3", 3, false, &degrees) && degrees != 1 + 2 / 60.);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(angles), cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
