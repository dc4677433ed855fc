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

static uint64_t power_of_10(int n) {
    return powers_of_5[n] << n;
}

/* Rounds to DIGITS - fewer digits; true if the double nearest to that is the same one: the distance
 * is below half a unit in the last place. All is scaled by 10^k 2^shift: scaled is the value, whole
 * its part above the point, and ulp its last place. */
static inline bool round_to(uint128 scaled, int shift, uint128 ulp, int fewer, uint64_t *digits) {
    const uint64_t whole = (uint64_t)(scaled >> shift);
    const uint64_t unit = fewer == 2 ? 100 : fewer == 1 ? 10 : 1;
    const uint64_t below = whole / unit;
    const uint128 floor = (uint128)(below * unit) << shift, step = (uint128)unit << shift;
    const bool up = scaled - floor >= step / 2;
    const uint128 off = up ? floor + step - scaled : scaled - floor;
    *digits = below + up;
    return 2 * off < ulp;
}

/* value = m * 2^(binary - 53), scaled so that DIGITS digits stand before the point: value * 10^k =
 * m * 5^k / 2^shift. The exponent follows from the binary one, or is one more. */
struct scaling {
    uint128 scaled, ulp;
    int shift, exponent;
};

static bool scale(uint64_t m, int binary, struct scaling *s) {
    s->exponent = (int)floor((binary - 1) * 0.30102999566398120); /* log10(2) */
    for (int tries = 0; tries < 2; tries++, s->exponent++) {
        const int k = DIGITS - 1 - s->exponent;
        s->shift = 53 - binary - k;
        if (k < 0 || k > MOST_POWER || s->shift < 1 || s->shift > 64)
            return false;
        s->ulp = powers_of_5[k];
        s->scaled = m * s->ulp;
        if (s->scaled >> s->shift < power_of_10(DIGITS))
            return true;
    }
    return false;
}

/* The shortest decimal of a positive double within range. False where a digit is in doubt. */
static bool shortest(double value, struct decimal *d) {
    struct scaling s;
    int binary;
    const uint64_t m = (uint64_t)ldexp(frexp(value, &binary), 53);
    if (m == (uint64_t)1 << 52 || !scale(m, binary, &s))
        return false;
    if (round_to(s.scaled, s.shift, s.ulp, 2, &d->digits))
        d->count = 15;
    else if (round_to(s.scaled, s.shift, s.ulp, 1, &d->digits))
        d->count = 16;
    else if (round_to(s.scaled, s.shift, s.ulp, 0, &d->digits))
        d->count = 17;
    else
        return false;
    d->exponent = s.exponent;
    if (d->digits >= power_of_10(d->count)) {
        d->exponent++;
        d->count++;
    }
    while (d->digits % 10 == 0) {
        d->digits /= 10;
        d->count--;
    }
    return true;
}

/* Two digits a division: 00, 01, ... 99. */
static int write_digits(uint64_t digits, int count, char *text) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    int i = count;
    for (; i >= 2; digits /= 100)
        memcpy(text + (i -= 2), pairs + 2 * (digits % 100), 2);
    if (i == 1)
        text[0] = (char)('0' + digits);
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
