/* Exact sums of float32 pixels, rounded once at the end: the arithmetic that all backends share.
 * Results do not depend on the order of the additions, so they have the same bits for any number of
 * threads, any chunks and any backend. Compiled by the C and the CUDA compiler.
 *
 * A float32 is m * 2^(e - 150), with e its biased exponent (1 for subnormals) and |m| < 2^24. Sums
 * of m and of m^2 are kept for each e: adding a pixel is two integer additions.
 *
 * In the end bins become one natural number of up to 1024 bits (exact_wide). Mean and standard
 * deviation are the double nearest to the exact value, ties to even: an estimate is moved by units
 * in the last place until the exact value is between the midpoints to its neighbours
 * (wide_root_over).
 *
 * exact_rms_quickly aligns the bins in 128 bits, and takes the root in double-double arithmetic
 * with a bound of the error. It is used if the bound leaves no doubt which double is the nearest
 * (Ziv 1991, ACM TOMS 17, 410), as for nearly all images; else exact_rms_slowly takes all bits.
 *
 * Always: no bin overflows below 2^63 pixels; a negative count takes pixels away again exactly.
 *
 * Cost: 8 KiB for the bins of a thread; exact_rms_quickly some 256 additions, exact_rms_slowly a
 * product of 1024 bits for each candidate. */
#ifndef EXACT_H
#define EXACT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define EXACT_FUNCTION static inline __host__ __device__
#else
#define EXACT_FUNCTION static inline
#endif

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

enum { EXACT_EXPONENTS = 256, EXACT_UNIT = 150, EXACT_LIMBS = 16 };

/* Sum of x = sum over e of sum[e] * 2^(e - 150); of x^2: square[e] * 2^(2e - 300). No bin
 * overflows below 2^63 pixels. */
struct exact_sums {
    int128 sum[EXACT_EXPONENTS];
    uint128 square[EXACT_EXPONENTS];
};

/* A natural number below 2^1024, least significant limb first. The longest number here has 680
 * bits: the square of the sum of 2^63 pixels of 2^128 in units of 2^-149. Comparison with a
 * rounding candidate adds up to 190 bits. */
struct exact_wide {
    uint64_t limb[EXACT_LIMBS];
};

EXACT_FUNCTION uint32_t exact_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

EXACT_FUNCTION float exact_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The biased exponent e, and thus the bin, of a finite float with these bits. */
EXACT_FUNCTION int exact_exponent(uint32_t bits) {
    int e = (int)(bits >> 23 & 255);
    return e ? e : 1;
}

/* |m| of a finite float with these bits. */
EXACT_FUNCTION uint32_t exact_mantissa(uint32_t bits) {
    return (bits & 0x7fffff) | (bits >> 23 & 255 ? 0x800000 : 0);
}

/* Adds count copies of the finite float x; a negative count subtracts them. */
EXACT_FUNCTION void exact_add(struct exact_sums *sums, float x, int64_t count) {
    const uint32_t bits = exact_bits(x);
    const int e = exact_exponent(bits);
    const int64_t m = exact_mantissa(bits);
    sums->sum[e] += (int128)(bits >> 31 ? -m : m) * count;
    sums->square[e] += (uint128)((int128)(m * m) * count);
}

/* Adds other sums to sums. */
EXACT_FUNCTION void exact_merge(struct exact_sums *sums, const struct exact_sums *other) {
    for (int e = 0; e < EXACT_EXPONENTS; e++) {
        sums->sum[e] += other->sum[e];
        sums->square[e] += other->square[e];
    }
}

/* Maps a float to an unsigned integer, in the same order; -0 has the key of 0. */
EXACT_FUNCTION uint32_t exact_key(float x) {
    const uint32_t bits = x == 0 ? 0 : exact_bits(x);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

/* The float that has a key. */
EXACT_FUNCTION float exact_unkey(uint32_t key) {
    return exact_float(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu));
}

/* The least float > bound, and the greatest float < bound (infinite if there is none). With these,
 * a comparison with a double becomes one with a float. */
EXACT_FUNCTION float exact_above(double bound) {
    const float x = (float)bound;
    return (double)x > bound ? x : nextafterf(x, INFINITY);
}

EXACT_FUNCTION float exact_below(double bound) {
    const float x = (float)bound;
    return (double)x < bound ? x : nextafterf(x, -INFINITY);
}

/* --- natural numbers --- */

/* w += value * 2^(64 i), modulo 2^1024 */
EXACT_FUNCTION void wide_add_limb(struct exact_wide *w, int i, uint64_t value) {
    for (; value && i < EXACT_LIMBS; i++) {
        w->limb[i] += value;
        value = w->limb[i] < value;
    }
}

/* w += value * 2^shift */
EXACT_FUNCTION void wide_add(struct exact_wide *w, uint128 value, int shift) {
    const int i = shift / 64, s = shift % 64;
    const uint64_t lo = (uint64_t)value, hi = (uint64_t)(value >> 64);
    wide_add_limb(w, i, lo << s);
    wide_add_limb(w, i + 1, (hi << s) | (s ? lo >> (64 - s) : 0));
    wide_add_limb(w, i + 2, s ? hi >> (64 - s) : 0);
}

EXACT_FUNCTION int wide_compare(const struct exact_wide *a, const struct exact_wide *b) {
    for (int i = EXACT_LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* a -= b, for a >= b */
EXACT_FUNCTION void wide_subtract(struct exact_wide *a, const struct exact_wide *b) {
    uint64_t borrow = 0;
    for (int i = 0; i < EXACT_LIMBS; i++) {
        const uint64_t first = a->limb[i] - b->limb[i];
        const uint64_t next = first - borrow;
        borrow = (a->limb[i] < b->limb[i]) | (first < borrow);
        a->limb[i] = next;
    }
}

/* The number of bits of w, without leading zeros. */
EXACT_FUNCTION int wide_bits(const struct exact_wide *w) {
    for (int i = EXACT_LIMBS - 1; i >= 0; i--)
        for (int b = 63; w->limb[i] && b >= 0; b--)
            if (w->limb[i] >> b)
                return 64 * i + b + 1;
    return 0;
}

EXACT_FUNCTION struct exact_wide wide_multiply(const struct exact_wide *a,
                                               const struct exact_wide *b) {
    struct exact_wide product = {{0}};
    for (int i = 0; i < EXACT_LIMBS; i++)
        for (int j = 0; a->limb[i] && i + j < EXACT_LIMBS; j++)
            if (b->limb[j])
                wide_add(&product, (uint128)a->limb[i] * b->limb[j], 64 * (i + j));
    return product;
}

EXACT_FUNCTION struct exact_wide wide_shift(const struct exact_wide *w, int shift) {
    struct exact_wide shifted = {{0}};
    for (int i = 0; i < EXACT_LIMBS; i++)
        if (w->limb[i])
            wide_add(&shifted, w->limb[i], 64 * i + shift);
    return shifted;
}

/* The double nearest to w * 2^unit, or one next to it: an estimate for wide_root_over. */
EXACT_FUNCTION double wide_estimate(const struct exact_wide *w, int unit) {
    const int bits = wide_bits(w), i = (bits - 1) / 64;
    if (bits == 0)
        return 0;
    const double head = (double)w->limb[i];
    const double next = i > 0 ? (double)w->limb[i - 1] : 0;
    return ldexp(head, 64 * i + unit) + ldexp(next, 64 * (i - 1) + unit);
}

/* Compares (n * quarter * 2^exponent)^power with w * 2^unit. */
EXACT_FUNCTION int wide_compare_candidate(const struct exact_wide *w, int unit, uint64_t n,
                                          int power, uint64_t quarter, int exponent) {
    struct exact_wide c = {{0}};
    wide_add(&c, (uint128)n * quarter, 0);
    if (power == 2)
        c = wide_multiply(&c, &c);
    const int shift = power * exponent - unit;
    if (shift >= 0) {
        c = wide_shift(&c, shift);
        return wide_compare(&c, w);
    }
    const struct exact_wide scaled = wide_shift(w, -shift);
    return wide_compare(&c, &scaled);
}

/* The double nearest to (w * 2^unit)^(1/power) / n, ties to even; power is 1 or 2. An estimate is
 * moved by units in the last place until the exact value lies between the midpoints to its
 * neighbours. For magnitudes from 2^-200 to 2^130; float32 pixels give no others. */
EXACT_FUNCTION double wide_root_over(const struct exact_wide *w, int unit, int power, uint64_t n) {
    if (wide_bits(w) == 0)
        return 0;
    const int half = power == 2 ? unit / 2 : 0; /* keeps the estimate of a variance within range */
    double estimate = wide_estimate(w, unit - 2 * half);
    estimate = power == 2 ? ldexp(sqrt(estimate), half) / (double)n : estimate / (double)n;
    int exponent;
    uint64_t m = (uint64_t)ldexp(frexp(estimate, &exponent), 53);
    exponent -= 53;
    for (;;) {
        const bool at_power_of_two = m == (uint64_t)1 << 52;
        const int upper = wide_compare_candidate(w, unit, n, power, 4 * m + 2, exponent - 2);
        const int lower = wide_compare_candidate(w, unit, n, power,
                                                 4 * m - (at_power_of_two ? 1 : 2), exponent - 2);
        if (upper < 0 || (upper == 0 && (m & 1)))
            m++;
        else if (lower > 0 || (lower == 0 && (m & 1)))
            m--;
        else
            return ldexp((double)m, exponent);
        if (m >> 53) {
            m >>= 1;
            exponent++;
        } else if (m < (uint64_t)1 << 52) {
            m = 2 * m + 1;
            exponent--;
        }
    }
}

/* --- mean and standard deviation --- */

/* Sets *total to |sum of x| in units of 2^-149. Returns whether the sum is negative. */
EXACT_FUNCTION bool exact_total(const struct exact_sums *sums, struct exact_wide *total) {
    struct exact_wide negative = {{0}};
    memset(total, 0, sizeof *total);
    for (int e = 1; e < EXACT_EXPONENTS; e++) {
        const int128 s = sums->sum[e];
        if (s > 0)
            wide_add(total, (uint128)s, e - 1);
        else if (s < 0)
            wide_add(&negative, (uint128)-s, e - 1);
    }
    if (wide_compare(total, &negative) >= 0) {
        wide_subtract(total, &negative);
        return false;
    }
    wide_subtract(&negative, total);
    *total = negative;
    return true;
}

/* The mean of n > 0 pixels, rounded once. */
EXACT_FUNCTION double exact_mean(const struct exact_sums *sums, int64_t n) {
    struct exact_wide total;
    const bool negative = exact_total(sums, &total);
    const double mean = wide_root_over(&total, -149, 1, (uint64_t)n);
    return negative ? -mean : mean;
}

/* The population standard deviation sqrt(n sum(x^2) - sum(x)^2) / n of n > 0 pixels, rounded once.
 */
EXACT_FUNCTION double exact_rms_slowly(const struct exact_sums *sums, int64_t n) {
    struct exact_wide total, squares = {{0}}, count = {{(uint64_t)n}};
    exact_total(sums, &total);
    total = wide_multiply(&total, &total);
    for (int e = 1; e < EXACT_EXPONENTS; e++)
        if (sums->square[e])
            wide_add(&squares, sums->square[e], 2 * (e - 1));
    squares = wide_multiply(&squares, &count);
    wide_subtract(&squares, &total);
    return wide_root_over(&squares, -298, 2, (uint64_t)n);
}

/* --- a faster standard deviation, used if its rounding is certain to be correct --- */

/* The sums of all bins, aligned to the highest bin that is not empty, `top`, with 64 and 32 more
 * bits: sum(x) = sum * 2^(top - 64 - 150), sum(x^2) = square * 2^(2 top - 32 - 300). Lower bits are
 * truncated, so that the error of each is less than EXACT_EXPONENTS units. */
struct exact_aligned {
    int128 sum;
    uint128 square;
    int top;
};

/* Adds bin e <= top to the aligned sums. They cannot overflow with at most EXACT_QUICK pixels, even
 * if a bin has the sums of integers below 2^31 (the inliers of a scan). */
EXACT_FUNCTION void exact_align(struct exact_aligned *aligned, int e, int128 sum, uint128 square) {
    const int up = e - aligned->top + 64, up_square = 2 * (e - aligned->top) + 32;
    if (up >= 0)
        aligned->sum += (int128)((uint128)sum << up);
    else if (up > -127)
        aligned->sum += sum >> -up;
    if (up_square >= 0)
        aligned->square += square << up_square;
    else if (up_square > -128)
        aligned->square += square >> -up_square;
}

#define EXACT_QUICK ((int64_t)1 << 31)

/* A natural number below 2^256. */
struct exact_double_wide {
    uint128 high, low;
};

/* Sets *d to n * square * 2^96 - sum^2. Without truncation this is never negative; returns false if
 * truncation made it negative. */
EXACT_FUNCTION bool exact_difference(const struct exact_aligned *a, int64_t n,
                                     struct exact_double_wide *d) {
    const uint128 s = (uint128)(a->sum < 0 ? -a->sum : a->sum);
    const uint64_t s_high = (uint64_t)(s >> 64), s_low = (uint64_t)s;
    const uint128 middle = (uint128)s_high * s_low;
    const uint128 less = (uint128)s_low * s_low + (middle << 65);
    const uint128 less_high =
        (uint128)s_high * s_high + (middle >> 63) + (less < (middle << 65) ? 1 : 0);
    const uint128 first = (uint128)(uint64_t)a->square * (uint64_t)n;
    const uint128 second = (uint128)(uint64_t)(a->square >> 64) * (uint64_t)n;
    const uint128 more = first << 96, more_high = (first >> 32) + (second << 32);
    d->low = more - less;
    d->high = more_high - less_high - (more < less ? 1 : 0);
    return more_high > less_high || (more_high == less_high && more >= less);
}

/* The number of leading zero bits of x != 0. */
EXACT_FUNCTION int exact_leading_zeros(uint128 x) {
    const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
#ifdef __CUDA_ARCH__
    return high ? __clzll((long long)high) : 64 + __clzll((long long)low);
#else
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
#endif
}

/* 2^exponent, which must be a normal double. */
EXACT_FUNCTION double exact_power(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* Writes d != 0 as (a + b 2^-53) 2^*exponent, with 2^52 <= a < 2^53; lower bits are truncated. */
EXACT_FUNCTION void exact_leading_bits(struct exact_double_wide d, double *a, double *b,
                                       int *exponent) {
    const uint64_t last53 = ((uint64_t)1 << 53) - 1;
    uint128 head = d.high ? d.high : d.low, tail = d.high ? d.low : 0;
    const int zeros = exact_leading_zeros(head), shift = zeros + (d.high ? 0 : 128);
    if (zeros > 0)
        head = head << zeros | tail >> (128 - zeros);
    *a = (double)(uint64_t)(head >> 75);
    *b = (double)((uint64_t)(head >> 22) & last53);
    *exponent = 256 - 53 - shift;
}

/* The double nearest to sqrt(a + b) / n, for |b| below an ulp of a, computed in twice the precision
 * of a double. False if rounding errors, and the relative error `doubt` of the root, leave in doubt
 * which double is the nearest (Ziv 1991, ACM TOMS 17, 410). */
EXACT_FUNCTION bool exact_root_over(double a, double b, double n, double doubt, double *value) {
    const double root = sqrt(a), root_low = (fma(-root, root, a) + b) / (2 * root);
    const double quotient = root / n;
    const double quotient_low = (fma(-quotient, n, root) + root_low) / n;
    *value = quotient + quotient_low;
    const double low = (quotient - *value) + quotient_low;
    const double error = *value * (doubt + 0x1p-95);
    return *value + (low + error) == *value && *value + (low - error) == *value;
}

/* The rms from aligned sums. False if the truncation and the rounding errors leave in doubt which
 * double is the nearest. */
EXACT_FUNCTION bool exact_rms_quickly(const struct exact_aligned *aligned, int64_t n, double *rms) {
    struct exact_double_wide d;
    double a, b;
    int exponent;
    if (n > EXACT_QUICK || !exact_difference(aligned, n, &d) || (d.high == 0 && d.low == 0))
        return false;
    exact_leading_bits(d, &a, &b, &exponent);
    const double size = a * exact_power(exponent);
    const double truncated =
        EXACT_EXPONENTS * (0x1p97 * (double)n + 4 * fabs((double)aligned->sum) + 256);
    exponent += 2 * aligned->top - 128 - 300;
    b *= 0x1p-53;
    if (exponent & 1) {
        a *= 2;
        b *= 2;
        exponent--;
    }
    double value;
    const bool certain = exact_root_over(a, b, (double)n, truncated / size, &value);
    *rms = value * exact_power(exponent / 2);
    return certain;
}

/* The population standard deviation of n > 0 pixels, rounded once. */
EXACT_FUNCTION double exact_rms(const struct exact_sums *sums, int64_t n) {
    struct exact_aligned aligned = {0, 0, 0};
    double rms;
    for (int e = 1; e < EXACT_EXPONENTS; e++)
        if (sums->square[e])
            aligned.top = e;
    for (int e = 1; e <= aligned.top; e++)
        exact_align(&aligned, e, sums->sum[e], sums->square[e]);
    return exact_rms_quickly(&aligned, n, &rms) ? rms : exact_rms_slowly(sums, n);
}

#endif
