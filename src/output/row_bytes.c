#include "output/row_bytes.h"

#include <math.h>
#include <string.h>

bool row_cell_is_empty(const struct srcfind_source *source, int i) {
    const union cell_value value = catalogue_value(source, i);
    return catalogue_kind(i) == SRCFIND_STRING
               ? !*value.text
               : catalogue_kind(i) == SRCFIND_REAL && !isfinite(value.real);
}

size_t row_bytes_count(size_t text_length) {
    size_t n = 0;
    for (int i = 0; i < catalogue_columns(); i++)
        n += catalogue_kind(i) == SRCFIND_STRING ? text_length : 8;
    return n;
}

static unsigned char *put_bits(uint64_t bits, unsigned char *to) {
    for (int shift = 56; shift >= 0; shift -= 8)
        *to++ = (unsigned char)(bits >> shift);
    return to;
}

static unsigned char *put_real(double real, unsigned char *to) {
    const double value = isfinite(real) ? real : (double)NAN;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_bits(bits, to);
}

size_t row_bytes_put(const struct srcfind_source *source, size_t text_length, unsigned char *to) {
    unsigned char *const first = to;
    for (int i = 0; i < catalogue_columns(); i++) {
        const union cell_value value = catalogue_value(source, i);
        switch (catalogue_kind(i)) {
        case SRCFIND_INTEGER:
            to = put_bits((uint64_t)value.integer, to);
            break;
        case SRCFIND_REAL:
            to = put_real(value.real, to);
            break;
        case SRCFIND_STRING:
            memset(to, 0, text_length);
            memcpy(to, value.text, strlen(value.text));
            to += text_length;
            break;
        }
    }
    return (size_t)(to - first);
}
