/* A table that grows row by row, from cells of text. The kind of a column follows from its cells:
 * integers while all are whole, real numbers while all are numbers, else texts. A column Entry_id
 * has texts, unless it is declared. */
#ifndef BUILDER_H
#define BUILDER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/parse_number.h"
#include "input/table_file.h"

enum { BUILDER_MOST_COLUMNS = 4096 };

struct builder_column {
    struct table_file_column cells;
    int64_t n_bytes, bytes_capacity;
    bool is_declared; /* the kind stays as it is */
    bool is_fixed;    /* in other blocks, too */
    bool has_values;  /* a cell was not empty */
    bool is_late;     /* a text came after numbers, which are texts, too */
};

struct builder {
    struct builder_column *columns;
    int64_t n_columns, columns_capacity, n_rows, rows_capacity;
};

enum builder_result {
    BUILDER_OK,
    BUILDER_NO_MEMORY,
    BUILDER_NO_NUMBER, /* a text in a declared column of numbers */
    BUILDER_NO_WHOLE   /* a real number in a declared column of integers */
};

/* Adds a column before there are rows. */
bool builder_add_column(struct builder *builder, const char *name, size_t length);

/* Declares the kind of column i. */
void builder_declare(struct builder *builder, int64_t i, enum srcfind_kind kind);

/* Sets the unit of column i. */
void builder_set_unit(struct builder *builder, int64_t i, const char *unit);

/* Makes room for a row, in which all cells are then set, each once, before builder_end_row. */
bool builder_begin_row(struct builder *builder);
void builder_end_row(struct builder *builder);

/* Sets the cell of column i in the row. No text is an empty cell. */
enum builder_result builder_set(struct builder *builder, int64_t i, const char *text,
                                size_t length);

/* Sets a cell to a number, if the column has no texts yet: builder_takes_numbers. */
bool builder_takes_numbers(const struct builder *builder, int64_t i);
enum builder_result builder_set_number(struct builder *builder, int64_t i,
                                       const struct number *number);

/* Sets a cell to a text, even if it looks like a number. */
enum builder_result builder_set_text(struct builder *builder, int64_t i, const char *text,
                                     size_t length);

/* If a column got a text after numbers, declares it one of texts, drops all rows, and returns true:
 * the rows are then to be set again. */
bool builder_restarts(struct builder *builder);

/* Lends the columns and rows to a table, until builder_next_block drops the rows, for other ones.
 * The columns are to be freed, but not their cells. */
bool builder_lend(struct builder *builder, struct table_file *table);
void builder_next_block(struct builder *builder);

/* Hands the columns and rows over to a table. Columns without a value are real. */
bool builder_finish(struct builder *builder, struct table_file *table);

void builder_clear(struct builder *builder);

#endif
