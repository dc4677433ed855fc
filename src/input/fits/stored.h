/* Conversion of stored to physical values: bzero + bscale * stored, rounded once to float32; NaN
 * for blank integers. */
#ifndef STORED_H
#define STORED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct scaling {
    double bscale, bzero;
    bool has_blank;
    int64_t blank;
};

/* Loads a big-endian unsigned integer of `size` bytes. The bytes are `step` apart. */
static inline uint64_t load_unsigned(const unsigned char *bytes, int size, int64_t step) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | bytes[i * step];
    return value;
}

/* Loads a big-endian integer of 8, 16, 32 or 64 bits; 8 bits are unsigned. */
static inline int64_t load_integer(const unsigned char *bytes, int bitpix, int64_t step) {
    switch (bitpix) {
    case 8:
        return bytes[0];
    case 16:
        return (int16_t)load_unsigned(bytes, 2, step);
    case 32:
        return (int32_t)load_unsigned(bytes, 4, step);
    default:
        return (int64_t)load_unsigned(bytes, 8, step);
    }
}

/* Loads a big-endian float of 32 (bitpix -32) or 64 bits (-64). */
static inline double load_real(const unsigned char *bytes, int bitpix, int64_t step) {
    double value;
    if (bitpix == -32) {
        const uint32_t bits = (uint32_t)load_unsigned(bytes, 4, step);
        float narrow;
        memcpy(&narrow, &bits, sizeof narrow);
        return narrow;
    }
    const uint64_t bits = load_unsigned(bytes, 8, step);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Scales an integer. Without scaling it is converted directly to float, since a 64-bit integer
 * would be rounded twice through a double. */
static inline float integer_value(int64_t stored, const struct scaling *s) {
    if (s->has_blank && stored == s->blank)
        return NAN;
    if (s->bscale == 1 && s->bzero == 0)
        return (float)stored;
    if (s->bscale == 1 && s->bzero == 0x1p63) /* unsigned 64-bit */
        return (float)((uint64_t)stored ^ (uint64_t)1 << 63);
    return (float)(s->bzero + s->bscale * (double)stored);
}

static inline float stored_value(const unsigned char *bytes, int bitpix, int64_t step,
                                 const struct scaling *s) {
    if (bitpix > 0)
        return integer_value(load_integer(bytes, bitpix, step), s);
    return (float)(s->bzero + s->bscale * load_real(bytes, bitpix, step));
}

#endif
