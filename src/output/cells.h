/* Cells of a table: its columns, its rows, and the value of each column in each row. */
#ifndef CELLS_H
#define CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "srcfind.h"

enum { CELL_TEXT = 64 };

/* The value of a cell, by its kind. A text belongs to the rows or to the column. */
union cell_value {
    int64_t integer;
    double real;
    const char *text;
};

/* A column of a table, and where its cells are. */
struct column {
    struct srcfind_column shown;
    size_t offset, width;   /* of a cell in its row: 8 bytes, or the longest text */
    bool may_be_empty;      /* integers: some may be SRCFIND_EMPTY */
    bool of_image;          /* its cells are members of struct row_image */
    double factor, divisor; /* reals are multiplied or divided by these; 0: they are not */
    const union cell_value *constant;  /* of all rows; NULL: the rows have the values */
    const union cell_value *otherwise; /* of empty numbers; NULL: they are empty */
};

/* Whether the cells of a column are texts of any length, which may need quotes. */
static inline bool column_is_free_text(const struct column *column) {
    return (column->of_image || column->constant) && column->shown.kind == SRCFIND_STRING;
}

/* The image of a row, in tables of several images. Texts are UTF-8 without control characters. A
 * column with of_image has the offset of a member. */
struct row_image {
    char *path, *date_obs;
    char *plane;      /* as --plane spells it; NULL: none is chosen */
    double frequency; /* Hz */
};

/* Rows of a table, as writers take them. */
struct rows {
    const void *first; /* struct srcfind_source, or the struct of the table's kind */
    size_t row_bytes;
    const struct row_image *const *images; /* the image of each row, in tables of several images */
    int64_t n;
    bool are_last;
};

static inline const struct srcfind_source *rows_source(const struct rows *rows, int64_t i) {
    return (const struct srcfind_source *)rows->first + i;
}

/* The value of a cell. */
union cell_value cell_get(const struct rows *rows, int64_t row, const struct column *column);

/* Writes a cell as in a CSV file, "" if it does not apply, and returns the length. The capacity of
 * text is CELL_TEXT. Not for free texts; no other cell needs quotes in CSV. */
int cell_print(const struct rows *rows, int64_t row, const struct column *column, char *text);

#endif
