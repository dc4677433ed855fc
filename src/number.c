/* A catalogue is mostly numbers, and printf takes half a microsecond for each of 17 digits: for
 * 2048 x 2048 pixels more time than to find the sources. Here the 17 digits come from one exact
 * multiplication in 128 bits, and a shorter number is taken if it lies within half a unit in the
 * last place of the double. Values outside 1e-11 ... 1e17, where the product would not fit, are
 * left to printf. */
#include "number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

enum { DIGITS = 17, MOST_POWER = 27 };

/* digits * 10^(exponent - count + 1), where digits has `count` digits */
struct decimal {
    uint64_t digits;
    int count, exponent;
};

static uint64_t power(uint64_t base, int n) {
    uint64_t p = 1;
    while (n-- > 0)
        p *= base;
    return p;
}

/* Rounds to `count` digits; true if the double nearest to that is the same one: the distance is
 * below half a unit in the last place. All is scaled by 10^k 2^shift: scaled is the value, and
 * ulp its last place. */
static bool round_to(uint128 scaled, int shift, uint128 ulp, int count, uint64_t *digits) {
    const uint128 unit = (uint128)power(10, DIGITS - count) << shift;
    const uint128 n = (scaled + unit / 2) / unit, rounded = n * unit;
    const uint128 off = rounded > scaled ? rounded - scaled : scaled - rounded;
    *digits = (uint64_t)n;
    return 2 * off < ulp;
}

/* The shortest decimal of a positive double within range. False where a digit is in doubt. */
static bool shortest(double value, struct decimal *d) {
    int binary;
    const uint64_t m = (uint64_t)ldexp(frexp(value, &binary), 53);
    const int exponent = (int)floor(log10(value));
    const int k = DIGITS - 1 - exponent;
    if (k < 0 || k > MOST_POWER || m == (uint64_t)1 << 52)
        return false;
    const int shift = 53 - binary - k; /* value * 10^k = m * 5^k / 2^shift */
    const uint128 ulp = power(5, k), scaled = m * ulp;
    if (shift < 1 || shift > 64)
        return false;
    for (d->count = 15; d->count <= DIGITS; d->count++)
        if (round_to(scaled, shift, ulp, d->count, &d->digits))
            break;
    if (d->count > DIGITS || d->digits < power(10, d->count - 1))
        return false; /* log10 was one too high */
    d->exponent = exponent;
    if (d->digits >= power(10, d->count)) {
        d->exponent++;
        d->count++;
    }
    while (d->digits % 10 == 0) {
        d->digits /= 10;
        d->count--;
    }
    return true;
}

static int write_digits(uint64_t digits, int count, char *text) {
    for (int i = count - 1; i >= 0; i--) {
        text[i] = (char)('0' + digits % 10);
        digits /= 10;
    }
    return count;
}

/* 0.00012, 12.5, 1200 */
static int write_fixed(const struct decimal *d, char *text) {
    char digits[DIGITS + 1] = "";
    int n = 0;
    write_digits(d->digits, d->count, digits);
    if (d->exponent < 0) {
        text[n++] = '0';
        text[n++] = '.';
        for (int i = d->exponent + 1; i < 0; i++)
            text[n++] = '0';
        memcpy(text + n, digits, (size_t)d->count);
        return n + d->count;
    }
    for (int i = 0; i <= d->exponent || i < d->count; i++) {
        if (i == d->exponent + 1)
            text[n++] = '.';
        text[n++] = i < d->count ? digits[i] : '0';
    }
    return n;
}

/* 1.25e-07 */
static int write_scientific(const struct decimal *d, char *text) {
    char digits[DIGITS + 1] = "";
    int n = 0;
    write_digits(d->digits, d->count, digits);
    text[n++] = digits[0];
    if (d->count > 1) {
        text[n++] = '.';
        memcpy(text + n, digits + 1, (size_t)d->count - 1);
        n += d->count - 1;
    }
    const int power_of_ten = abs(d->exponent);
    text[n++] = 'e';
    text[n++] = d->exponent < 0 ? '-' : '+';
    return n + write_digits((uint64_t)power_of_ten, power_of_ten < 100 ? 2 : 3, text + n);
}

/* The same by trying; the digits are then taken apart to be written alike. */
static void shortest_by_printf(double value, struct decimal *d) {
    char text[NUMBER_TEXT];
    d->count = 0;
    do {
        d->count++;
        snprintf(text, sizeof text, "%.*e", d->count - 1, value);
    } while (d->count < DIGITS && strtod(text, NULL) != value);
    char *end = strchr(text, 'e');
    d->exponent = (int)strtol(end + 1, NULL, 10);
    d->digits = 0;
    for (const char *c = text; c < end; c++)
        if (*c >= '0' && *c <= '9') /* the locale may have another point */
            d->digits = d->digits * 10 + (uint64_t)(*c - '0');
}

int number_write(double value, char *text) {
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

int number_write_integer(int64_t value, char *text) {
    char reversed[NUMBER_TEXT];
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    int n = 0, length = 0;
    do
        reversed[length++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        text[n++] = '-';
    while (length > 0)
        text[n++] = reversed[--length];
    text[n] = '\0';
    return n;
}
