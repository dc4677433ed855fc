#include "output/row_bytes.h"

#include <math.h>
#include <string.h>

bool row_cell_is_empty(const struct rows *rows, int64_t row, const struct column *column) {
    const union cell_value value = cell_get(rows, row, column);
    switch (column->shown.kind) {
    case SRCFIND_INTEGER:
        return value.integer == SRCFIND_EMPTY;
    case SRCFIND_REAL:
        return !isfinite(value.real);
    case SRCFIND_STRING:
        return !*value.text;
    }
    return false;
}

size_t row_bytes_widths(const struct table *table, size_t widths[MOST_COLUMNS]) {
    size_t n = 0;
    for (int i = 0; i < table->columns.n; i++)
        n += widths[i] = table->columns.column[i].width;
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

static unsigned char *put_text(const char *text, size_t width, unsigned char *to) {
    memset(to, 0, width);
    for (size_t i = 0; i < width && text[i]; i++)
        to[i] = (unsigned char)text[i] < 0x80 ? (unsigned char)text[i] : '?';
    return to + width;
}

size_t row_bytes_put(const struct table *table, const struct rows *rows, int64_t row,
                     const size_t *widths, unsigned char *to) {
    unsigned char *const first = to;
    for (int i = 0; i < table->columns.n; i++) {
        const struct column *column = &table->columns.column[i];
        const union cell_value value = cell_get(rows, row, column);
        switch (column->shown.kind) {
        case SRCFIND_INTEGER:
            to = put_bits((uint64_t)value.integer, to);
            break;
        case SRCFIND_REAL:
            to = put_real(value.real, to);
            break;
        case SRCFIND_STRING:
            to = put_text(value.text, widths[i], to);
            break;
        }
    }
    return (size_t)(to - first);
}
