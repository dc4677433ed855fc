#include "input/fits/ascii_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"

/* --- columns --- */

/* Reads digits, at most as many as an int has for certain, and moves behind them. */
static bool read_digits(const char **text, int *value) {
    enum { MOST_DIGITS = 9 };
    int n = 0;
    *value = 0;
    for (; isdigit((unsigned char)**text) && n < MOST_DIGITS; n++)
        *value = 10 * *value + *(*text)++ - '0';
    return n > 0;
}

/* Reads TFORMn: `Aw`, `Iw`, `Fw.d`, `Ew.d` or `Dw.d`; without d, it is 0. */
static bool read_form(const char *form, struct ascii_column *column) {
    int width;
    column->type = ascii_upper(*form);
    column->decimals = 0;
    if (!column->type || !strchr("AIFED", column->type))
        return false;
    form++;
    if (!read_digits(&form, &width))
        return false;
    column->width = width;
    if (*form == '.') {
        form++;
        if (!read_digits(&form, &column->decimals))
            return false;
    }
    const bool is_valid = *form == '\0' && width > 0 && column->decimals <= width;
    if (column->type == 'A' || column->type == 'I')
        column->decimals = 0;
    return is_valid;
}

bool ascii_table_column(const struct table *table, int number, struct ascii_column *column) {
    char form[SRCFIND_TEXT];
    int64_t first;
    column->number = number;
    if (!table_form(table, number, form) || !read_form(form, column) ||
        !header_indexed(table->header, "TBCOL", number, &first) || first < 1)
        return false;
    column->offset = first - 1;
    return column->width <= table->row_bytes - column->offset;
}

/* --- numbers --- */

enum { MOST_CHARACTERS = 480, EXPONENT = 32 };

/* Copies a field without its blanks; false if it is too long for a number. */
static bool copy_digits(const char *field, size_t length, char text[MOST_CHARACTERS + EXPONENT]) {
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (field[i] == ' ')
            continue;
        if (n + 1 == MOST_CHARACTERS)
            return false;
        text[n++] = field[i];
    }
    text[n] = '\0';
    return true;
}

/* Sets the point that a text of digits does not have, by its exponent. */
static void imply_point(int decimals, char text[MOST_CHARACTERS + EXPONENT]) {
    char digits[MOST_CHARACTERS + EXPONENT];
    const size_t n = strspn(text, "+-0123456789");
    const bool has_exponent = text[n] && strchr("EeDd", text[n]);
    if (decimals == 0 || n == 0 || (text[n] && !has_exponent))
        return;
    const long exponent = has_exponent ? strtol(text + n + 1, NULL, 10) : 0;
    if (labs(exponent) > MOST_CHARACTERS)
        return;
    memcpy(digits, text, n);
    snprintf(text, sizeof digits, "%.*sE%ld", (int)n, digits, exponent - decimals);
}

struct number ascii_table_number(const struct ascii_column *column, const char *field,
                                 size_t length) {
    char text[MOST_CHARACTERS + EXPONENT];
    if (!copy_digits(field, length, text))
        return (struct number){.kind = NUMBER_NONE};
    imply_point(column->decimals, text);
    struct number number = parse_number(text, strlen(text));
    if (column->type != 'I' && number.kind == NUMBER_INTEGER)
        number.kind = NUMBER_REAL;
    return number;
}
