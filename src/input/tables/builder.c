#include "input/tables/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"

enum { FIRST_ROWS = 1024 };

bool builder_add_column(struct builder *builder, const char *name, size_t length) {
    if (!GROW(builder->columns, builder->columns_capacity, builder->n_columns + 1))
        return false;
    struct builder_column *column = &builder->columns[builder->n_columns];
    *column = (struct builder_column){.cells.name = strndup(name, length)};
    builder->n_columns += column->cells.name != NULL;
    if (column->cells.name && strcmp(column->cells.name, "Entry_id") == 0)
        builder_declare(builder, builder->n_columns - 1, SRCFIND_STRING); /* 007 is no number */
    return column->cells.name;
}

/* Appends a text, with its NUL, to the texts of a column. */
static bool add_bytes(struct builder_column *column, const char *text, size_t length) {
    const int64_t end = column->n_bytes + (int64_t)length + 1;
    if (!GROW(column->cells.bytes, column->bytes_capacity, end))
        return false;
    memcpy(column->cells.bytes + column->n_bytes, text, length);
    column->cells.bytes[end - 1] = '\0';
    column->n_bytes = end;
    return true;
}

void builder_declare(struct builder *builder, int64_t i, enum srcfind_kind kind) {
    builder->columns[i].cells.kind = kind;
    builder->columns[i].is_declared = builder->columns[i].is_fixed = true;
}

void builder_set_unit(struct builder *builder, int64_t i, const char *unit) {
    snprintf(builder->columns[i].cells.unit, SRCFIND_TEXT, "%s", unit);
}

bool builder_begin_row(struct builder *builder) {
    if (builder->n_rows < builder->rows_capacity)
        return true;
    const int64_t capacity = builder->n_rows + builder->n_rows / 2 + FIRST_ROWS;
    for (int64_t i = 0; i < builder->n_columns; i++) {
        struct builder_column *column = &builder->columns[i];
        int64_t *cells =
            realloc(column->cells.integers, (size_t)capacity * sizeof *column->cells.integers);
        if (!cells)
            return false;
        arrays_use_huge_pages(cells, (size_t)capacity * sizeof *cells);
        column->cells.integers = cells;
        if (!column->cells.bytes && !add_bytes(column, "", 0))
            return false;
    }
    builder->rows_capacity = capacity;
    return true;
}

void builder_end_row(struct builder *builder) {
    builder->n_rows++;
}

/* --- cells --- */

static void set_empty(struct builder_column *column, int64_t row) {
    if (column->cells.kind == SRCFIND_INTEGER)
        column->cells.integers[row] = INT64_MIN;
    else if (column->cells.kind == SRCFIND_REAL)
        column->cells.reals[row] = NAN;
    else
        column->cells.starts[row] = 0; /* the first text is empty */
}

/* Makes a column of integers, where all of n rows are empty, one of texts. */
static void make_text(struct builder_column *column, int64_t n) {
    column->cells.kind = SRCFIND_STRING;
    for (int64_t row = 0; row < n; row++)
        set_empty(column, row);
}

enum builder_result builder_set_text(struct builder *builder, int64_t i, const char *text,
                                     size_t length) {
    struct builder_column *column = &builder->columns[i];
    set_empty(column, builder->n_rows);
    if (length == 0)
        return BUILDER_OK;
    if (column->cells.kind != SRCFIND_STRING) {
        if (column->is_declared)
            return BUILDER_NO_NUMBER;
        column->is_late = column->is_late || column->has_values;
        if (column->is_late)
            return BUILDER_OK;
        make_text(column, builder->n_rows);
    }
    column->has_values = true;
    column->cells.starts[builder->n_rows] = column->n_bytes;
    return add_bytes(column, text, length) ? BUILDER_OK : BUILDER_NO_MEMORY;
}

bool builder_takes_numbers(const struct builder *builder, int64_t i) {
    const struct builder_column *column = &builder->columns[i];
    return column->cells.kind != SRCFIND_STRING && !column->is_late;
}

enum builder_result builder_set_number(struct builder *builder, int64_t i,
                                       const struct number *number) {
    struct builder_column *column = &builder->columns[i];
    if (column->cells.kind == SRCFIND_INTEGER && number->kind == NUMBER_REAL) {
        if (column->is_declared)
            return BUILDER_NO_WHOLE;
        table_file_make_real(&column->cells, builder->n_rows);
    }
    column->has_values = true;
    if (column->cells.kind == SRCFIND_INTEGER)
        column->cells.integers[builder->n_rows] = number->integer;
    else
        column->cells.reals[builder->n_rows] = number->real;
    return BUILDER_OK;
}

enum builder_result builder_set(struct builder *builder, int64_t i, const char *text,
                                size_t length) {
    if (length > 0 && builder_takes_numbers(builder, i)) {
        const struct number number = parse_number(text, length);
        if (number.kind != NUMBER_NONE)
            return builder_set_number(builder, i, &number);
    }
    return builder_set_text(builder, i, text, length);
}

/* --- the end --- */

bool builder_restarts(struct builder *builder) {
    bool any = false;
    for (int64_t i = 0; i < builder->n_columns; i++)
        any = any || builder->columns[i].is_late;
    for (int64_t i = 0; any && i < builder->n_columns; i++) {
        struct builder_column *column = &builder->columns[i];
        if (column->is_late || column->has_values) {
            column->cells.kind = column->is_late ? SRCFIND_STRING : column->cells.kind;
            column->is_declared = true;
        }
        column->is_late = column->has_values = false;
        column->n_bytes = column->cells.bytes ? 1 : 0;
    }
    if (any)
        builder->n_rows = 0;
    return any;
}

/* A row that is not set reserves what a table without rows needs, too. */
bool builder_lend(struct builder *builder, struct table_file *table) {
    if (!builder_begin_row(builder) ||
        !(table->columns = calloc((size_t)builder->n_columns, sizeof *table->columns)))
        return false;
    for (int64_t i = 0; i < builder->n_columns; i++) {
        struct builder_column *column = &builder->columns[i];
        if (!column->has_values && !column->is_declared)
            table_file_make_real(&column->cells, builder->n_rows);
        table->columns[i] = column->cells;
    }
    table->n_rows = builder->n_rows;
    table->n_columns = (int)builder->n_columns;
    return true;
}

void builder_next_block(struct builder *builder) {
    for (int64_t i = 0; i < builder->n_columns; i++) {
        struct builder_column *column = &builder->columns[i];
        column->is_declared = column->is_fixed;
        column->is_late = column->has_values = false;
        column->n_bytes = column->cells.bytes ? 1 : 0;
        if (!column->is_fixed)
            column->cells.kind = SRCFIND_INTEGER;
    }
    builder->n_rows = 0;
}

bool builder_finish(struct builder *builder, struct table_file *table) {
    if (!builder_lend(builder, table))
        return false;
    for (int64_t i = 0; i < builder->n_columns; i++) {
        builder->columns[i].cells = (struct table_file_column){0};
        if (table->columns[i].kind == SRCFIND_STRING)
            continue;
        free(table->columns[i].bytes);
        table->columns[i].bytes = NULL;
    }
    return true;
}

void builder_clear(struct builder *builder) {
    for (int64_t i = 0; i < builder->n_columns; i++) {
        free(builder->columns[i].cells.name);
        free(builder->columns[i].cells.integers);
        free(builder->columns[i].cells.bytes);
    }
    free(builder->columns);
    *builder = (struct builder){0};
}
