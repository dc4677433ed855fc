/* Numbers as text: the shortest decimal that reads back as the same double. */
#include <stdio.h>
#include <stdlib.h>

#include "common/format_double.h"
#include "unit.h"

static void assert_text(double value, const char *expected) {
    char text[FORMAT_TEXT];
    const int length = format_double(value, text);
    assert_int_equal(length, strlen(text));
    assert_string_equal(text, expected);
}

static void known_numbers(void **state) {
    (void)state;
    assert_text(0, "0");
    assert_text(-0.0, "0");
    assert_text(1, "1");
    assert_text(-12, "-12");
    assert_text(0.1, "0.1");
    assert_text(0.001, "0.001");
    assert_text(1e-5, "1e-05");
    assert_text(0.0001, "0.0001");
    assert_text(1.0 / 3, "0.3333333333333333");
    assert_text(1e15, "1000000000000000");
    assert_text(1e16, "1e+16");
    assert_text(123456.789, "123456.789");
    assert_text(5e-324, "5e-324");
    assert_text(1.7976931348623157e308, "1.7976931348623157e+308");
    assert_text(9007199254740993.0, "9007199254740992");
    assert_text(0.3, "0.3");
    assert_text(0.1 + 0.2, "0.30000000000000004");
    assert_text(2.2250738585072014e-308, "2.2250738585072014e-308");
    assert_text(0x1p-20, "9.5367431640625e-07");
}

/* Digits that %.*e needs to come back. */
static int digits_needed(double value) {
    char text[64];
    for (int n = 1;; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, value);
        if (strtod(text, NULL) == value)
            return n;
    }
}

static int digits_in(const char *text) {
    int n = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0'))
            continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        n++;
    }
    return n - zeros;
}

static void assert_shortest(double value) {
    char text[FORMAT_TEXT];
    assert_in_range(format_double(value, text), 1, FORMAT_TEXT - 1);
    assert_true(strtod(text, NULL) == value);
    assert_int_equal(digits_in(text), digits_needed(value));
}

static void random_numbers(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 200000; i++) {
        const uint64_t bits = random_bits(&r);
        double any;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any))
            assert_shortest(any);
        assert_shortest(random_normal(&r) * pow(10, random_below(&r, 24) - 12));
        assert_shortest((double)(float)random_normal(&r));
        assert_shortest(random_below(&r, 1000000) / 1000.0);
    }
}

static void beside_powers(void **state) {
    (void)state;
    for (int e = -15; e < 20; e++) {
        assert_shortest(pow(10, e));
        assert_shortest(nextafter(pow(10, e), 0));
        assert_shortest(nextafter(pow(10, e), INFINITY));
    }
    for (int e = -1074; e < 1024; e++) {
        assert_shortest(ldexp(1, e));
        assert_shortest(nextafter(ldexp(1, e), INFINITY));
    }
}

static void integers(void **state) {
    char text[FORMAT_TEXT];
    (void)state;
    assert_int_equal(format_integer(0, text), 1);
    assert_string_equal(text, "0");
    format_integer(INT64_MIN, text);
    assert_string_equal(text, "-9223372036854775808");
    format_integer(INT64_MAX, text);
    assert_string_equal(text, "9223372036854775807");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_numbers),
        cmocka_unit_test(random_numbers),
        cmocka_unit_test(beside_powers),
        cmocka_unit_test(integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
