#include "input/table_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/parse_number.h"

static void clear_cells(struct table_file_column *column) {
    free(column->integers);
    free(column->bytes);
    column->integers = NULL;
    column->bytes = NULL;
}

void table_file_keep_cells(struct table_file *table, bool (*is_used)(const char *name)) {
    for (int i = 0; i < table->n_columns; i++)
        if (!is_used(table->columns[i].name))
            clear_cells(&table->columns[i]);
}

void table_file_make_real(struct table_file_column *column, int64_t n) {
    for (int64_t row = 0; row < n; row++) {
        const int64_t integer = column->integers[row];
        column->reals[row] = integer == INT64_MIN ? (double)NAN : (double)integer;
    }
    column->kind = SRCFIND_REAL;
}

void table_file_clear(struct table_file *table) {
    for (int i = 0; i < table->n_columns; i++) {
        free(table->columns[i].name);
        clear_cells(&table->columns[i]);
    }
    free(table->columns);
    free(table->image.path);
    if (table->options)
        options_clear(table->options);
    free(table->options);
    free(table->entry);
    *table = (struct table_file){0};
}

const struct table_file_column *table_file_column(const struct table_file *table,
                                                  const char *name) {
    for (int i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    for (int i = 0; i < table->n_columns; i++)
        if (ascii_same(table->columns[i].name, name))
            return &table->columns[i];
    return NULL;
}

double table_file_real(const struct table_file_column *column, int64_t row) {
    double value = NAN;
    if (column->kind == SRCFIND_REAL)
        value = column->reals[row];
    else if (column->kind == SRCFIND_INTEGER)
        value = column->integers[row] == INT64_MIN ? (double)NAN : (double)column->integers[row];
    else {
        const char *text = table_file_text(column, row);
        const struct number number = parse_number(text, strlen(text));
        value = number.kind == NUMBER_NONE ? (double)NAN : number.real;
    }
    return isfinite(value) ? value : (double)NAN;
}
