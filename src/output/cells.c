#include "output/cells.h"

#include <math.h>
#include <string.h>

#include "common/format_double.h"

/* The value of a cell in its row, or in the image of the row. */
static union cell_value value_of_row(const struct rows *rows, int64_t row,
                                     const struct column *column) {
    const char *of = column->of_image ? (const char *)rows->images[row]
                                      : (const char *)rows->first + (size_t)row * rows->row_bytes;
    const char *at = of + column->offset;
    union cell_value value = {.text = at};
    if (column->of_image && column->shown.kind == SRCFIND_STRING) {
        memcpy(&value.text, at, sizeof value.text);
        value.text = value.text ? value.text : "";
    } else if (column->shown.kind == SRCFIND_INTEGER)
        memcpy(&value.integer, at, sizeof value.integer);
    else if (column->shown.kind == SRCFIND_REAL)
        memcpy(&value.real, at, sizeof value.real);
    return value;
}

static bool is_empty(const struct column *column, union cell_value value) {
    return column->shown.kind == SRCFIND_REAL ? !isfinite(value.real)
                                              : value.integer == SRCFIND_EMPTY;
}

union cell_value cell_get(const struct rows *rows, int64_t row, const struct column *column) {
    union cell_value value = column->constant ? *column->constant : value_of_row(rows, row, column);
    if (column->factor != 0)
        value.real *= column->factor;
    else if (column->divisor != 0)
        value.real /= column->divisor;
    return column->otherwise && is_empty(column, value) ? *column->otherwise : value;
}

int cell_print(const struct rows *rows, int64_t row, const struct column *column, char *text) {
    const union cell_value value = cell_get(rows, row, column);
    size_t length;
    text[0] = '\0';
    switch (column->shown.kind) {
    case SRCFIND_INTEGER:
        return value.integer != SRCFIND_EMPTY ? format_integer(value.integer, text) : 0;
    case SRCFIND_REAL:
        return isfinite(value.real) ? format_double(value.real, text) : 0;
    case SRCFIND_STRING:
        length = strlen(value.text);
        memcpy(text, value.text, length + 1);
        return (int)length;
    }
    return 0;
}
