#include "input/tables/binary_rows.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "input/fits/stored.h"

/* --- columns --- */

static bool is_integer(char type) {
    return type && strchr("BIJK", type);
}

/* Whether a column of characters has several texts in a row: `30A10`, or TDIM of two axes. */
static bool has_texts(const struct header *header, const struct table_column *column) {
    char axes[SRCFIND_TEXT] = "";
    header_text(header, header_keyword("TDIM", column->number).text, axes, sizeof axes);
    return isdigit((unsigned char)column->element) || strchr(axes, ',');
}

static bool is_scalar(const struct header *header, const struct table_column *column) {
    if (column->type == 'A')
        return column->count > 0 && !has_texts(header, column);
    return column->count == 1 && (column->type == 'L' || table_bitpix(column->type) != 0);
}

static enum srcfind_kind kind_of(const struct binary_column *column) {
    if (column->at.type == 'A')
        return SRCFIND_STRING;
    if (column->at.type == 'L')
        return SRCFIND_INTEGER;
    return is_integer(column->at.type) && column->scale == 1 &&
                   column->zero == floor(column->zero) && fabs(column->zero) <= 0x1p63
               ? SRCFIND_INTEGER
               : SRCFIND_REAL;
}

int binary_columns_list(const struct table *table, struct binary_columns *columns) {
    const struct header *header = table->header;
    struct table_column column = {0};
    columns->table = table;
    columns->n = 0;
    while (table_next(table, &column)) {
        if (!is_scalar(header, &column))
            continue;
        struct binary_column *scalar = &columns->column[columns->n++];
        *scalar = (struct binary_column){.at = column, .scale = 1};
        header_real(header, header_keyword("TSCAL", column.number).text, &scalar->scale);
        header_real(header, header_keyword("TZERO", column.number).text, &scalar->zero);
        scalar->has_null = header_indexed(header, "TNULL", column.number, &scalar->null);
    }
    return column.number == table->n_columns ? 0 : column.number + 1;
}

/* --- cells --- */

/* The sum of a stored integer and TZERO, a whole number; false if it does not fit. */
static bool add_zero(int64_t stored, double zero, int64_t *value) {
    if (zero == 0x1p63)
        return !__builtin_add_overflow(stored, INT64_MAX, value) &&
               !__builtin_add_overflow(*value, 1, value);
    return !__builtin_add_overflow(stored, (int64_t)zero, value);
}

static void set_integer(const struct binary_column *from, int64_t stored, int64_t row,
                        struct table_file_column *column) {
    int64_t value;
    const bool is_null = from->has_null && stored == from->null;
    if (column->kind == SRCFIND_INTEGER && !is_null && !add_zero(stored, from->zero, &value))
        table_file_make_real(column, row);
    if (column->kind == SRCFIND_INTEGER)
        column->integers[row] = is_null ? INT64_MIN : value;
    else
        column->reals[row] = is_null ? (double)NAN : from->zero + from->scale * (double)stored;
}

static void set_real(const struct binary_column *from, const unsigned char *bytes, int64_t row,
                     struct table_file_column *column) {
    const double stored = load_real(bytes, table_bitpix(from->at.type), 1);
    column->reals[row] =
        from->scale == 1 && from->zero == 0 ? stored : from->zero + from->scale * stored;
}

/* Adds a text without the blanks behind it. */
static bool set_text(struct binary_column *from, const unsigned char *bytes, int64_t row,
                     struct table_file_column *column) {
    size_t length = strnlen((const char *)bytes, (size_t)from->at.count);
    while (length > 0 && bytes[length - 1] == ' ')
        length--;
    const int64_t end = from->n_bytes + (int64_t)length + 1;
    column->starts[row] = 0;
    if (length == 0)
        return true;
    if (!GROW(column->bytes, from->bytes_capacity, end))
        return false;
    memcpy(column->bytes + from->n_bytes, bytes, length);
    column->bytes[end - 1] = '\0';
    column->starts[row] = from->n_bytes;
    from->n_bytes = end;
    return true;
}

static bool set_cell(struct binary_column *from, const unsigned char *row_bytes, int64_t row,
                     struct table_file_column *column) {
    const unsigned char *bytes = row_bytes + from->at.offset;
    const char type = from->at.type;
    if (type == 'A')
        return set_text(from, bytes, row, column);
    if (type == 'L')
        column->integers[row] = *bytes == 'T' ? 1 : *bytes == 'F' ? 0 : INT64_MIN;
    else if (is_integer(type))
        set_integer(from, load_integer(bytes, table_bitpix(type), 1), row, column);
    else
        set_real(from, bytes, row, column);
    return true;
}

/* --- rows --- */

struct row_reader {
    struct binary_columns *columns;
    const struct table_sink *sink; /* NULL: all rows stay in the table */
    struct table_file *into;
};

/* Forgets the rows of a block, for one of n rows. */
static void begin_block(struct binary_columns *columns, int64_t n, struct table_file *into) {
    into->n_rows = n;
    for (int i = 0; i < columns->n; i++) {
        columns->column[i].n_bytes = 1;
        into->columns[i].kind = kind_of(&columns->column[i]);
    }
}

static enum srcfind_status take_rows(void *context, const unsigned char *rows, int64_t first,
                                     int64_t n, struct error *error) {
    const struct row_reader *r = context;
    const int64_t row_bytes = r->columns->table->row_bytes, to = r->sink ? 0 : first;
    if (r->sink)
        begin_block(r->columns, n, r->into);
    for (int i = 0; i < r->columns->n; i++)
        for (int64_t k = 0; k < n; k++)
            if (!set_cell(&r->columns->column[i], rows + k * row_bytes, to + k,
                          &r->into->columns[i]))
                return error_memory(error, "reading a catalogue");
    return r->sink ? r->sink->take(r->sink->context, r->into, error) : SRCFIND_OK;
}

/* Allocates the cells of n rows. The file has all rows, and each has a byte of each column or more.
 */
static bool allocate(struct binary_columns *columns, int64_t n, struct table_file *into) {
    into->n_rows = n;
    into->n_rows_most = columns->table->n_rows;
    for (int i = 0; i < columns->n; i++) {
        struct table_file_column *column = &into->columns[i];
        column->kind = kind_of(&columns->column[i]);
        column->integers = arrays_allocate(n, sizeof *column->integers);
        column->bytes = column->kind == SRCFIND_STRING ? calloc(1, 1) : NULL;
        columns->column[i].n_bytes = columns->column[i].bytes_capacity = 1;
        if (!column->integers || (column->kind == SRCFIND_STRING && !column->bytes))
            return false;
    }
    return true;
}

enum srcfind_status binary_rows_read(struct binary_columns *columns, const struct table_sink *sink,
                                     struct table_file *into, struct error *error) {
    struct row_reader reading = {columns, sink, into};
    const int64_t n = columns->table->n_rows, most = table_block_rows(columns->table);
    if (!allocate(columns, sink && n > most ? most : n, into))
        return error_memory(error, "reading a catalogue");
    if (n > 0)
        return table_read_rows(columns->table, take_rows, &reading, error);
    return sink ? sink->take(sink->context, into, error) : SRCFIND_OK;
}
