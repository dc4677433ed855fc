/* Text as numbers: the double that strtod finds, and nothing for other text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/format_double.h"
#include "common/parse_number.h"
#include "unit.h"

static void assert_same_real(const char *text) {
    const struct number number = parse_number(text, strlen(text));
    const double expected = strtod(text, NULL);
    if (number.kind == NUMBER_NONE || memcmp(&number.real, &expected, sizeof expected) != 0)
        fail_msg("%s was read as %.17g", text, number.real);
}

static void reals(void **state) {
    static const char *const texts[] = {
        "0.5", "-0.5", ".5", "5.", "+5.25", "1e5", "1E-05", "1e+22",
        "123456789012345678901234567890", "-0", "-0.0", "1e400", "1e-400", "-1e400", "5e-324",
        "2.4703282292062328e-324", "1.7976931348623157e308",
        /* in the middle between two doubles, and a digit beside it */
        "9007199254740993.0", "9007199254740993.0000000000000000000000000000000000001",
        "9007199254740995.0", "18014398509481986.0",
        "0.500000000000000055511151231257827021181583404541015625",
        "0.1000000000000000055511151231257827", "1e99999999999999999999", "1e-99999999999999999999",
        "0.00000000000000000000000000000000000000000000000000001e53", "7.2057594037927933e16"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_same_real(texts[i]);
        assert_int_equal(parse_number(texts[i], strlen(texts[i])).kind, NUMBER_REAL);
    }
    assert_true(parse_number("1D3", 3).real == 1000 && parse_number("-1.5d-1", 7).real == -0.15);
    assert_true(isnan(parse_number("NaN", 3).real) && isnan(parse_number("-nan", 4).real));
    assert_true(parse_number("Infinity", 8).real == (double)INFINITY);
    assert_true(parse_number("-INF", 4).real == -(double)INFINITY);
    assert_true(parse_number("12345", 3).integer == 123);
}

static void integers(void **state) {
    static const char *const texts[] = {
        "0", "7", "-12", "+12", "007", "9223372036854775807", "-9223372036854775808"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct number number = parse_number(texts[i], strlen(texts[i]));
        assert_int_equal(number.kind, NUMBER_INTEGER);
        assert_true(number.integer == strtoll(texts[i], NULL, 10));
        assert_same_real(texts[i]);
    }
    assert_int_equal(parse_number("9223372036854775808", 19).kind, NUMBER_REAL);
    assert_int_equal(parse_number("-9223372036854775809", 20).kind, NUMBER_REAL);
}

static void no_numbers(void **state) {
    static const char *const texts[] = {"",        "-",   "+",     ".",        "e5",    "1e",
                                        "1e+",     "1x",  "x1",    "1 ",       " 1",    "1.2.3",
                                        "0x10",    "--1", "1,5",   "12:34:56", "nano",  "in",
                                        "infinit", "-",   "1e5.0", "1_000",    "nan(1)"};
    char *const longest = malloc(2000);
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(parse_number(texts[i], strlen(texts[i])).kind, NUMBER_NONE);
    memset(longest, '1', 2000);
    assert_int_equal(parse_number(longest, 1000).kind, NUMBER_REAL);
    assert_int_equal(parse_number(longest, 1001).kind, NUMBER_NONE);
    free(longest);
}

/* Decimals of 1 to 19 digits, the shortest and the longest of any doubles, and numbers that are
 * close to the middle between two doubles. */
static void random_numbers(void **state) {
    struct random r = {1};
    char text[64];
    (void)state;
    for (int i = 0; i < 300000; i++) {
        const uint64_t bits = random_bits(&r);
        double any;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any)) {
            snprintf(text, sizeof text, "%.*e", random_below(&r, 20), any);
            assert_same_real(text);
        }
        const double usual = random_normal(&r) * pow(10, random_below(&r, 60) - 30);
        format_double(usual, text);
        if (usual != 0)
            assert_true(parse_number(text, strlen(text)).real == usual);
        snprintf(text, sizeof text, "%llue%d",
                 (unsigned long long)(random_bits(&r) >> random_below(&r, 60)),
                 random_below(&r, 60) - 30);
        assert_same_real(text);
        snprintf(text, sizeof text, "%.25g", usual + (nextafter(usual, INFINITY) - usual) / 2);
        assert_same_real(text);
        const uint64_t middle = (random_bits(&r) | (uint64_t)1 << 63) >> 10 | 1; /* 54 bits */
        snprintf(text, sizeof text, "%llu.0", (unsigned long long)middle);
        assert_same_real(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals),
        cmocka_unit_test(integers),
        cmocka_unit_test(no_numbers),
        cmocka_unit_test(random_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
