#include "input/tables/votable_rows.h"

#include <math.h>
#include <string.h>

#include "input/fits/stored.h"

/* --- fields --- */

static const struct {
    const char *name;
    int bytes;  /* of an element; a bit has none */
    int bitpix; /* of numbers, as in FITS; 0: it is no number */
} types[] = {
    [VOTABLE_BOOLEAN] = {"boolean", 1, 0},
    [VOTABLE_BIT] = {"bit", 0, 0},
    [VOTABLE_BYTE] = {"unsignedByte", 1, 8},
    [VOTABLE_SHORT] = {"short", 2, 16},
    [VOTABLE_INT] = {"int", 4, 32},
    [VOTABLE_LONG] = {"long", 8, 64},
    [VOTABLE_CHAR] = {"char", 1, 0},
    [VOTABLE_UNICODE] = {"unicodeChar", 2, 0},
    [VOTABLE_FLOAT] = {"float", 4, -32},
    [VOTABLE_DOUBLE] = {"double", 8, -64},
    [VOTABLE_FLOAT_COMPLEX] = {"floatComplex", 8, 0},
    [VOTABLE_DOUBLE_COMPLEX] = {"doubleComplex", 16, 0},
};

enum { TYPES = sizeof types / sizeof *types, MOST_ELEMENTS = 1 << 24, COUNT_BYTES = 4 };

/* Reads 12, 3x4, 3x* or 5*: the last number may be a limit alone. */
static bool read_count(const char *text, int64_t *count) {
    *count = 1;
    for (;; text++) {
        int64_t n = 0;
        const char *digits = text;
        for (; *text >= '0' && *text <= '9' && n <= MOST_ELEMENTS; text++)
            n = 10 * n + (*text - '0');
        if (*text == '*' && !text[1]) {
            *count = -1;
            return true;
        }
        if (text == digits || n > MOST_ELEMENTS || (*count *= n) > MOST_ELEMENTS)
            return false;
        if (*text != 'x')
            return !*text;
    }
}

static bool is_text(const struct votable_field *field) {
    return field->type == VOTABLE_CHAR || field->type == VOTABLE_UNICODE;
}

bool votable_field_set(struct votable_field *field, const char *datatype, const char *arraysize,
                       bool *is_single) {
    int type = 0;
    while (type < TYPES && strcmp(types[type].name, datatype) != 0)
        type++;
    if (type == TYPES)
        return false;
    field->type = type;
    field->count = 1;
    if (*arraysize && !read_count(arraysize, &field->count))
        return false;
    *is_single = is_text(field) ? !strchr(arraysize, 'x')
                                : field->count == 1 &&
                                      (types[type].bitpix != 0 || field->type == VOTABLE_BOOLEAN);
    return true;
}

enum srcfind_kind votable_field_kind(const struct votable_field *field) {
    return is_text(field)                                                  ? SRCFIND_STRING
           : field->type == VOTABLE_FLOAT || field->type == VOTABLE_DOUBLE ? SRCFIND_REAL
                                                                           : SRCFIND_INTEGER;
}

/* --- cells --- */

/* 1 or 0 for a boolean; others are empty. */
static int64_t boolean_of(char c) {
    return c == 'T' || c == 't' || c == '1' ? 1 : c == 'F' || c == 'f' || c == '0' ? 0 : INT64_MIN;
}

static enum builder_result set_integer(struct builder *builder, const struct votable_field *field,
                                       int64_t value) {
    const bool is_empty = field->has_null && value == field->null;
    const struct number number = {NUMBER_INTEGER, is_empty ? INT64_MIN : value, (double)value};
    return builder_set_number(builder, field->column, &number);
}

static enum builder_result set_real(struct builder *builder, const struct votable_field *field,
                                    double value) {
    const struct number number = {NUMBER_REAL, 0, value};
    return builder_set_number(builder, field->column, &number);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

enum builder_result votable_set_text(struct builder *builder, const struct votable_field *field,
                                     const char *text, size_t length) {
    if (is_text(field))
        return builder_set_text(builder, field->column, text, length);
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    for (; length > 0 && is_blank(*text); text++)
        length--;
    if (length > 0 && field->type == VOTABLE_BOOLEAN)
        return set_integer(builder, field, boolean_of(*text));
    const struct number number = parse_number(text, length);
    return length > 0 && number.kind == NUMBER_INTEGER &&
                   votable_field_kind(field) == SRCFIND_INTEGER
               ? set_integer(builder, field, number.integer)
               : builder_set(builder, field->column, text, length);
}

/* --- rows of bytes --- */

/* The elements of a cell, and where they begin. */
static int64_t elements_of(const struct votable_field *field, const unsigned char *bytes,
                           int64_t *begin) {
    *begin = field->count < 0 ? COUNT_BYTES : 0;
    return field->count < 0 ? load_integer(bytes, 32, 1) : field->count;
}

static int64_t bytes_of(const struct votable_field *field, int64_t elements) {
    return field->type == VOTABLE_BIT ? (elements + 7) / 8 : elements * types[field->type].bytes;
}

static int64_t flag_bytes(int64_t n_fields, bool has_flags) {
    return has_flags ? (n_fields + 7) / 8 : 0;
}

int64_t votable_row_size(const struct votable_field *fields, int64_t n_fields, bool has_flags,
                         const unsigned char *bytes, int64_t n) {
    int64_t size = flag_bytes(n_fields, has_flags);
    for (int64_t i = 0; i < n_fields; i++) {
        int64_t begin;
        if (fields[i].count < 0 && n - size < COUNT_BYTES)
            return 0;
        const int64_t elements = elements_of(&fields[i], bytes + size, &begin);
        if (elements < 0 || elements > MOST_ELEMENTS)
            return -1;
        size += begin + bytes_of(&fields[i], elements);
        if (size > n)
            return 0;
    }
    return size > 0 ? size : -1;
}

/* Adds a character of at most 16 bits as UTF-8. */
static char *put_utf8(char *to, unsigned c) {
    if (c < 0x80)
        *to++ = (char)c;
    else if (c < 0x800)
        *to++ = (char)(0xc0 | c >> 6);
    else {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 63));
    }
    if (c >= 0x80)
        *to++ = (char)(0x80 | (c & 63));
    return to;
}

/* Sets a text of 16 bits a character; what is longer than a cell is cut. */
static enum builder_result set_unicode(struct builder *builder, const struct votable_field *field,
                                       const unsigned char *bytes, int64_t elements) {
    enum { MOST = 4096 };
    char text[MOST + 3], *to = text;
    for (int64_t i = 0; i < elements && to < text + MOST; i++) {
        const unsigned c = (unsigned)load_unsigned(bytes + 2 * i, 2, 1);
        if (c == 0)
            break;
        to = put_utf8(to, c);
    }
    return builder_set_text(builder, field->column, text, (size_t)(to - text));
}

static enum builder_result set_char(struct builder *builder, const struct votable_field *field,
                                    const unsigned char *bytes, int64_t elements) {
    size_t length = strnlen((const char *)bytes, (size_t)elements);
    while (length > 0 && bytes[length - 1] == ' ')
        length--;
    return builder_set_text(builder, field->column, (const char *)bytes, length);
}

static enum builder_result set_cell(struct builder *builder, const struct votable_field *field,
                                    const unsigned char *bytes, int64_t elements) {
    const int bitpix = types[field->type].bitpix;
    if (field->type == VOTABLE_CHAR)
        return set_char(builder, field, bytes, elements);
    if (field->type == VOTABLE_UNICODE)
        return set_unicode(builder, field, bytes, elements);
    if (field->type == VOTABLE_BOOLEAN)
        return set_integer(builder, field, boolean_of((char)*bytes));
    return bitpix < 0 ? set_real(builder, field, load_real(bytes, bitpix, 1))
                      : set_integer(builder, field, load_integer(bytes, bitpix, 1));
}

enum builder_result votable_set_row(struct builder *builder, const struct votable_field *fields,
                                    int64_t n_fields, bool has_flags, const unsigned char *bytes) {
    const unsigned char *cell = bytes + flag_bytes(n_fields, has_flags);
    enum builder_result result = BUILDER_OK;
    for (int64_t i = 0; result == BUILDER_OK && i < n_fields; i++) {
        const struct votable_field *field = &fields[i];
        const bool is_empty = has_flags && bytes[i / 8] & 0x80 >> i % 8;
        int64_t begin;
        const int64_t elements = elements_of(field, cell, &begin);
        if (field->column >= 0)
            result = is_empty ? builder_set_text(builder, field->column, "", 0)
                              : set_cell(builder, field, cell + begin, elements);
        cell += begin + bytes_of(field, elements);
    }
    return result;
}
