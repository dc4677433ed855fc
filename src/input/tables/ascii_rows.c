#include "input/tables/ascii_rows.h"

#include <stdlib.h>
#include <string.h>

#include "input/tables/builder.h"

/* --- columns --- */

int ascii_columns_list(const struct table *table, struct ascii_columns *columns) {
    const struct header *header = table->header;
    columns->table = table;
    for (columns->n = 0; columns->n < table->n_columns; columns->n++) {
        struct ascii_field *f = &columns->field[columns->n];
        const int number = columns->n + 1;
        *f = (struct ascii_field){.scale = 1};
        if (!ascii_table_column(table, number, &f->at))
            return number;
        header_real(header, header_keyword("TSCAL", number).text, &f->scale);
        header_real(header, header_keyword("TZERO", number).text, &f->zero);
        f->has_null =
            header_text(header, header_keyword("TNULL", number).text, f->null, sizeof f->null);
    }
    return 0;
}

bool ascii_columns_overlap(const struct ascii_columns *columns) {
    int64_t left = columns->table->row_bytes;
    for (int i = 0; i < columns->n; i++)
        left -= columns->field[i].at.width;
    return left < 0;
}

/* --- cells --- */

/* The part of a field without blanks around it, also those in front where `both` is set. A NUL ends
 * the field. */
static const char *trim(const char *field, size_t *length, bool both) {
    *length = strnlen(field, *length);
    while (*length > 0 && field[*length - 1] == ' ')
        --*length;
    for (; both && *length > 0 && *field == ' '; field++)
        --*length;
    return field;
}

static bool is_null(const struct ascii_field *f, const char *text, size_t length) {
    size_t null_length = strlen(f->null);
    const char *null = trim(f->null, &null_length, true);
    return f->has_null && length == null_length && memcmp(text, null, length) == 0;
}

/* The number in a field, scaled. */
static struct number number_of(const struct ascii_field *f, const char *text, size_t length) {
    struct number number = ascii_table_number(&f->at, text, length);
    if (f->scale == 1 && f->zero == 0)
        return number;
    number.real = f->zero + f->scale * number.real;
    if (number.kind == NUMBER_INTEGER)
        number.kind = NUMBER_REAL;
    return number;
}

static enum builder_result set_cell(const struct ascii_field *f, const char *row, int64_t i,
                                    struct builder *builder) {
    const bool is_text = f->at.type == 'A';
    size_t length = (size_t)f->at.width, bare_length = length;
    const char *bare = trim(row + f->at.offset, &bare_length, true);
    const char *text = is_text ? trim(row + f->at.offset, &length, false) : bare;
    if (bare_length == 0 || is_null(f, bare, bare_length))
        return builder_set_text(builder, i, "", 0);
    if (!is_text && builder_takes_numbers(builder, i)) {
        const struct number number = number_of(f, bare, bare_length);
        if (number.kind != NUMBER_NONE)
            return builder_set_number(builder, i, &number);
    }
    return builder_set_text(builder, i, text, is_text ? length : bare_length);
}

/* --- rows --- */

struct row_reader {
    const struct ascii_columns *columns;
    struct builder builder;
};

static enum srcfind_status take_rows(void *context, const unsigned char *rows, int64_t first,
                                     int64_t n, struct error *error) {
    struct row_reader *r = context;
    const int64_t row_bytes = r->columns->table->row_bytes;
    (void)first;
    for (int64_t k = 0; k < n; k++) {
        bool ok = builder_begin_row(&r->builder);
        for (int i = 0; ok && i < r->columns->n; i++)
            ok = set_cell(&r->columns->field[i], (const char *)rows + k * row_bytes, i,
                          &r->builder) == BUILDER_OK;
        if (!ok)
            return error_memory(error, "reading a catalogue");
        builder_end_row(&r->builder);
    }
    return SRCFIND_OK;
}

/* Declares the columns, which have the names and units of the table. */
static bool add_columns(struct row_reader *r, const struct table_file *into) {
    for (int i = 0; i < r->columns->n; i++) {
        const struct table_file_column *column = &into->columns[i];
        if (!builder_add_column(&r->builder, column->name, strlen(column->name)))
            return false;
        builder_set_unit(&r->builder, i, column->unit);
        if (r->columns->field[i].at.type == 'A')
            builder_declare(&r->builder, i, SRCFIND_STRING);
    }
    return true;
}

static void clear_columns(struct table_file *table) {
    for (int i = 0; i < table->n_columns; i++)
        free(table->columns[i].name);
    free(table->columns);
    table->columns = NULL;
    table->n_columns = 0;
}

enum srcfind_status ascii_rows_read(const struct ascii_columns *columns, struct table_file *into,
                                    struct error *error) {
    struct row_reader r = {.columns = columns};
    enum srcfind_status status = SRCFIND_OK;
    bool ok = add_columns(&r, into);
    do {
        if (ok && columns->table->n_rows > 0)
            status = table_read_rows(columns->table, take_rows, &r, error);
    } while (ok && status == SRCFIND_OK && builder_restarts(&r.builder));
    clear_columns(into);
    ok = ok && (status != SRCFIND_OK || builder_finish(&r.builder, into));
    builder_clear(&r.builder);
    return ok ? status : error_memory(error, "reading a catalogue");
}
