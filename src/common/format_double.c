/* A catalogue is mostly numbers, and printf takes half a microsecond for a number of 17 digits: for
 * an image of 2048 x 2048 pixels this is more time than to find the sources. Here one exact
 * multiplication in 128 bits gives the 17 digits. A number with fewer digits is used if it is less
 * than half a unit in the last place from the double. printf formats values outside 1e-11 ... 1e15,
 * whose product would overflow, powers of two, and values whose rounding is in doubt. */
#include "common/format_double.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

enum { DIGITS = 17, MOST_POWER = 27 };

/* digits * 10^(exponent - 16), where digits has 17 digits */
struct decimal {
    uint64_t digits;
    int exponent;
};

static const uint64_t powers_of_5[MOST_POWER + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625ull,
    30517578125ull,
    152587890625ull,
    762939453125ull,
    3814697265625ull,
    19073486328125ull,
    95367431640625ull,
    476837158203125ull,
    2384185791015625ull,
    11920928955078125ull,
    59604644775390625ull,
    298023223876953125ull,
    1490116119384765625ull,
    7450580596923828125ull,
};

#define TEN_TO_16 UINT64_C(10000000000000000)

enum { LEAST_EXPONENT = -11 };

/* The first is 10^LEAST_EXPONENT. */
static const double powers_of_10[] = {1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3,
                                      1e-2,  1e-1,  1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                      1e7,   1e8,   1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/* value * 10^k, with 17 digits before the point: whole + fraction / 2^64; and half a unit in the
 * last place of the value, 0.5 to 11.2, in units of 2^-FRACTION. */
struct scaling {
    uint64_t whole, fraction, half_ulp;
    int exponent;
};

/* The number of bits after the binary point in comparisons. The bits before it hold 100. */
enum { FRACTION = 57 };

/* Scales a value of 1e-11 ... 1e15 to m * 5^k / 2^shift. The value is m * 2^(binary - 53), where m
 * has 53 bits. The decimal exponent is floor((binary - 1) log10(2)) or one more; 78913 / 2^18
 * is log10(2). If the value is the double nearest to a power of ten, it equals the table's entry,
 * and is rounded to that power. */
static void scale_to_17_digits(double value, uint64_t m, int binary, struct scaling *s) {
    const int least = (binary - 1) * 78913 >> 18;
    s->exponent = least + (value >= powers_of_10[least + 1 - LEAST_EXPONENT]);
    const int k = DIGITS - 1 - s->exponent, shift = 53 - binary - k;
    const uint128 product = (uint128)m * powers_of_5[k];
    const uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    s->whole = high << (64 - shift) | low >> shift;
    s->fraction = low << (64 - shift);
    s->half_ulp = (uint64_t)(((uint128)powers_of_5[k] << (FRACTION - 1)) >> shift);
}

/* A multiple of 10 or 100, and whether the nearest double to it is the value. */
struct rounding {
    uint64_t digits;
    bool same, in_doubt;
};

/* Rounds to a multiple of unit. The nearest double is the same if the distance is less than half a
 * unit in its last place. Both are truncated to multiples of 2^-FRACTION, so that a near tie is in
 * doubt. There is no branch, since rounding goes up and down equally often. */
static inline struct rounding round_to(const struct scaling *s, uint64_t unit) {
    const uint64_t half_up = s->whole + unit / 2, digits = half_up - half_up % unit;
    const uint64_t beyond = (s->whole - digits) << FRACTION | s->fraction >> (64 - FRACTION);
    const uint64_t distance = (uint64_t)llabs((int64_t)beyond);
    return (struct rounding){digits, distance < s->half_ulp, distance + 2 - s->half_ulp <= 4};
}

/* Finds the shortest decimal of a positive double. False if the value is out of range, a power of
 * two, or its rounding is in doubt. All roundings are computed; the one to 17 digits is always
 * sufficient. A rounding that gives the same double never reaches the next power of ten: the double
 * nearest to that power has the next exponent (see scale_to_17_digits). */
static bool shortest(double value, struct decimal *d) {
    struct scaling s;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t leading = (uint64_t)1 << 52, fraction = bits % leading;
    if (fraction == 0 || !(value > 1e-11 && value < 1e15))
        return false;
    scale_to_17_digits(value, leading + fraction, (int)(bits / leading) - 1022, &s);
    const struct rounding of_15 = round_to(&s, 100), of_16 = round_to(&s, 10);
    if (of_15.in_doubt || of_16.in_doubt)
        return false;
    d->digits = of_15.same   ? of_15.digits
                : of_16.same ? of_16.digits
                             : s.whole + (s.fraction >> 63);
    d->exponent = s.exponent;
    return true;
}

/* Splits a number into eight digits, with leading zeros, one in each byte of a word; the first
 * digit is in the lowest byte. The number is split in two, four and eight parts, each time all
 * parts of the word at once. Products with 10486 / 2^20 and 103 / 2^10 give the quotients by 100
 * and 10 exactly, for numbers as small as these. */
static inline uint64_t eight_digits(uint32_t digits) {
    const uint64_t fours = digits / 10000 | (uint64_t)(digits % 10000) << 32;
    const uint64_t hundreds = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    const uint64_t tens = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (twos - 10 * tens) << 8;
}

/* All 17 digits: the first one, and two words of eight digits. count is without the zeros at the
 * end. */
struct digits {
    uint64_t first, next, last;
    int count;
};

static inline int leading_zero_bytes(uint64_t word) {
    return __builtin_clzll(word | 1) / 8;
}

static inline struct digits digits_of(const struct decimal *d) {
    const uint64_t last_16 = d->digits % TEN_TO_16;
    struct digits t = {d->digits / TEN_TO_16, eight_digits((uint32_t)(last_16 / 100000000)),
                       eight_digits((uint32_t)(last_16 % 100000000)), 0};
    if (t.last)
        t.count = DIGITS - leading_zero_bytes(t.last);
    else
        t.count = t.next ? 9 - leading_zero_bytes(t.next) : 1;
    return t;
}

/* Writes the eight digits of a word. */
static inline void write_8(uint64_t word, char *text) {
    const uint64_t ones = word + UINT64_C(0x3030303030303030);
    const bool lowest_first = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const uint64_t bytes = lowest_first ? ones : __builtin_bswap64(ones);
    memcpy(text, &bytes, sizeof bytes);
}

static inline void write_digits(const struct digits *t, char *text) {
    text[0] = (char)('0' + t->first);
    write_8(t->next, text + 1);
    write_8(t->last, text + 9);
}

/* Writes 0.00012, 12.5, 1200, and returns the length. There is no loop over the digits before the
 * point: a processor cannot predict its branch. */
static int write_fixed(const struct decimal *d, char *text) {
    const int whole = d->exponent + 1;
    const struct digits t = digits_of(d);
    if (whole <= 0) {
        memcpy(text, "0.0000", 6);
        write_digits(&t, text + 2 - whole);
        return 2 - whole + t.count;
    }
    write_digits(&t, text);
    if (whole < 9) {
        write_8(t.next >> 8 * (whole - 1), text + whole + 1);
        write_8(t.last, text + 10);
    } else {
        write_8(t.last >> 8 * (whole - 9), text + whole + 1);
    }
    text[whole] = '.';
    return t.count <= whole ? whole : t.count + 1;
}

/* Writes 1.25e-07, and returns the length. */
static int write_scientific(const struct decimal *d, char *text) {
    const struct digits t = digits_of(d);
    int n = t.count > 1 ? t.count + 1 : 1;
    write_digits(&t, text + 1);
    text[0] = text[1];
    text[1] = '.';
    const int power_of_ten = abs(d->exponent);
    text[n++] = 'e';
    text[n++] = d->exponent < 0 ? '-' : '+';
    if (power_of_ten >= 100)
        text[n++] = (char)('0' + power_of_ten / 100);
    text[n++] = (char)('0' + power_of_ten / 10 % 10);
    text[n++] = (char)('0' + power_of_ten % 10);
    return n;
}

/* Finds the shortest decimal of any positive double: tries printf with more and more digits. For a
 * double that is not subnormal it begins at 15 digits: each decimal of at most 15 digits survives
 * the conversion to double and back, so that, if fewer are enough, the others of the 15 are zeros.
 */
static void shortest_by_printf(double value, struct decimal *d) {
    char text[FORMAT_TEXT];
    int count = value < DBL_MIN ? 0 : 14;
    do {
        count++;
        snprintf(text, sizeof text, "%.*e", count - 1, value);
    } while (count < DIGITS && strtod(text, NULL) != value);
    char *end = strchr(text, 'e');
    d->exponent = (int)strtol(end + 1, NULL, 10);
    d->digits = 0;
    for (const char *c = text; c < end; c++)
        if (*c >= '0' && *c <= '9') /* the decimal point depends on the locale */
            d->digits = d->digits * 10 + (uint64_t)(*c - '0');
    for (; count < DIGITS; count++)
        d->digits *= 10;
}

int format_double(double value, char *text) {
    struct decimal d = {0};
    int n = 0;
    if (value < 0)
        text[n++] = '-';
    if (value == 0) {
        text[n++] = '0';
    } else {
        if (!shortest(fabs(value), &d))
            shortest_by_printf(fabs(value), &d);
        n += d.exponent < -4 || d.exponent > 15 ? write_scientific(&d, text + n)
                                                : write_fixed(&d, text + n);
    }
    text[n] = '\0';
    return n;
}

char *format_point(char *text) {
    const char *mark = localeconv()->decimal_point;
    const size_t length = strlen(mark);
    char *at = length > 0 ? strstr(text, mark) : NULL;
    if (at) {
        *at = '.';
        memmove(at + 1, at + length, strlen(at + length) + 1);
    }
    return text;
}

int format_integer(int64_t value, char *text) {
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    int n = value < 0 ? 2 : 1;
    for (uint64_t more = magnitude / 10; more > 0; more /= 10)
        n++;
    text[0] = '-';
    for (int i = n - 1; i >= (value < 0); i--, magnitude /= 10)
        text[i] = (char)('0' + magnitude % 10);
    text[n] = '\0';
    return n;
}

char *format_add(char *to, double value) {
    return to + format_double(value, to);
}

char *format_add_integer(char *to, int64_t value) {
    return to + format_integer(value, to);
}

char *format_add_text(char *to, const char *text) {
    const size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}
