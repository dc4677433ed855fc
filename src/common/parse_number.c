/* A catalogue is mostly numbers, and strtod takes three times as long as this for one of 17 digits.
 * Up to 19 digits times a power of ten that floating point holds exactly are one operation, rounded
 * once; strtod does the rest. */
#define _GNU_SOURCE /* strtod_l */
#include "common/parse_number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "common/ascii.h"

enum {
    MOST_POWER = 22, /* 10^22 is a double */
    MOST_TEXT = 1000 /* longer than any double */
};

static const double powers_of_10[MOST_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static locale_t c_locale;
static once_flag c_locale_once = ONCE_FLAG_INIT;

static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double parse_in_c_locale(const char *text, char **end) {
    call_once(&c_locale_once, make_c_locale);
    return c_locale ? strtod_l(text, end, c_locale) : strtod(text, end);
}

const char *parse_number_hint(const char *text) {
    const char *comma = strchr(text, ',');
    return comma && !strchr(comma + 1, ',') ? ": write a point for the comma" : "";
}

/* (-1)^negative * digits * 10^exponent */
struct decimal {
    bool negative;
    bool is_whole;    /* written without a point and an exponent */
    bool is_complete; /* no digit was left out */
    uint64_t digits;
    int64_t exponent;
};

/* Reads further digits, and returns their number. Digits that do not fit are left out. */
static size_t read_digits(const char *text, const char *end, struct decimal *d) {
    static const uint64_t most = UINT64_C(999999999999999999); /* one more digit fits */
    const char *at = text;
    uint64_t digits = d->digits;
    for (; at < end && (unsigned char)(*at - '0') < 10 && digits <= most; at++)
        digits = 10 * digits + (uint64_t)(*at - '0');
    for (; at < end && (unsigned char)(*at - '0') < 10; at++)
        d->is_complete = false;
    d->digits = digits;
    return (size_t)(at - text);
}

/* Reads an exponent behind its letter; false if there is none. */
static bool read_exponent(const char *at, const char *end, int64_t *exponent) {
    struct decimal d = {.is_complete = true};
    const bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const size_t n = read_digits(at, end, &d);
    if (n == 0 || at + n != end)
        return false;
    const int64_t most = 100000, value = d.digits < (uint64_t)most ? (int64_t)d.digits : most;
    *exponent = negative ? -value : value;
    return true;
}

/* Takes a decimal apart; false if the text is none. */
static bool read_decimal(const char *at, const char *end, struct decimal *d) {
    int64_t exponent = 0;
    *d = (struct decimal){.negative = at < end && *at == '-', .is_complete = true};
    at += at < end && (*at == '-' || *at == '+');
    const size_t whole = read_digits(at, end, d);
    size_t fraction = 0;
    at += whole;
    d->is_whole = at == end;
    if (at < end && *at == '.') {
        fraction = read_digits(at + 1, end, d);
        at += fraction + 1;
    }
    if (whole + fraction == 0)
        return false;
    if (at < end && (!strchr("eEdD", *at) || !read_exponent(at + 1, end, &exponent)))
        return false;
    d->exponent = exponent - (int64_t)fraction;
    return true;
}

#if LDBL_MANT_DIG == 64
/* A long double of x87 holds 19 digits and 10^27, and their product or quotient is within half a
 * unit of 64 bits. It is rounded as the exact value is, unless it is next to the middle between two
 * doubles. */
static bool multiply(const struct decimal *d, double *value) {
    enum { MOST_WIDE_POWER = 27, BELOW_DOUBLE = 0x7ff, MIDDLE = 0x400 };
    const int64_t power = d->exponent < 0 ? -d->exponent : d->exponent;
    if (power > MOST_WIDE_POWER)
        return false;
    const int64_t lower = power < MOST_POWER ? power : MOST_POWER;
    const long double ten = (long double)powers_of_10[lower] * powers_of_10[power - lower];
    const long double wide =
        d->exponent < 0 ? (long double)d->digits / ten : (long double)d->digits * ten;
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    const int64_t rest = (int64_t)(bits & BELOW_DOUBLE);
    *value = (double)wide;
    return rest < MIDDLE - 1 || rest > MIDDLE + 1;
}
#else
static bool multiply(const struct decimal *d, double *value) {
    const int64_t power = d->exponent < 0 ? -d->exponent : d->exponent;
    if (power > MOST_POWER || d->digits > UINT64_C(1) << DBL_MANT_DIG)
        return false;
    const double digits = (double)d->digits;
    *value = d->exponent < 0 ? digits / powers_of_10[power] : digits * powers_of_10[power];
    return true;
}
#endif

static double convert(const struct decimal *d, const char *text, size_t length) {
    char copy[MOST_TEXT + 1], *end;
    double value;
    if (d->is_complete && multiply(d, &value))
        return d->negative ? -value : value;
    memcpy(copy, text, length);
    copy[length] = '\0';
    for (char *c = copy; *c; c++)
        if (*c == 'd' || *c == 'D')
            *c = 'e';
    return parse_in_c_locale(copy, &end);
}

/* nan, inf and infinity, behind a sign. */
static bool is_word(const char *text, size_t length, double *value) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    const size_t sign = length > 0 && (*text == '-' || *text == '+');
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (length - sign == strlen(words[i]) &&
            ascii_same_start(text + sign, words[i], length - sign)) {
            *value = i == 0 ? (double)NAN : *text == '-' ? (double)-INFINITY : (double)INFINITY;
            return true;
        }
    }
    return false;
}

struct number parse_number(const char *text, size_t length) {
    struct number number = {NUMBER_NONE, 0, 0};
    struct decimal d;
    if (length == 0 || length > MOST_TEXT)
        return number;
    if (!read_decimal(text, text + length, &d)) {
        number.kind = is_word(text, length, &number.real) ? NUMBER_REAL : NUMBER_NONE;
        return number;
    }
    const uint64_t most = (uint64_t)INT64_MAX + d.negative;
    const bool is_integer = d.is_whole && d.is_complete && d.digits <= most &&
                            !(d.negative && d.digits == 0); /* -0 is a real number */
    number.kind = is_integer ? NUMBER_INTEGER : NUMBER_REAL;
    if (is_integer)
        number.integer = (int64_t)(d.negative ? -d.digits : d.digits);
    number.real = is_integer ? (double)number.integer : convert(&d, text, length);
    return number;
}
