/* How lines of cells are read: one pass over the text, without a copy of plain cells.
 *
 * 1. delimited_next_row skips blank lines and comments. delimited_next_cell finds the end of a
 *    cell; a cell in quotes is copied only if it has doubled quotes.
 * 2. read_row sets the cells of a row in the builder, which learns the kinds of columns as it goes.
 *    If a text follows numbers in a column, the builder restarts, and all lines are read again
 *    (read_until).
 * 3. delimited_read_blocks reads a file through a window: rows that begin more than a row's length
 *    before its end are whole; they are handed over, and the window moves on.
 *
 * Always: a row has at most 1 MiB and exactly the columns of the names; an error says the line,
 * counted by line feeds, also within quotes.
 *
 * Cost: a read of the text, two if a column restarts. */
#include "input/tables/delimited.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "input/tables/text_file.h"
#include "input/tables/text_window.h"

/* A row of BUILDER_MOST_COLUMNS numbers has fewer bytes. */
enum { MOST_ROW_BYTES = 1 << 20 };

void delimited_clear(struct delimited *d) {
    free(d->unquoted);
    *d = (struct delimited){0};
}

/* Whether c is a blank; a tab is one unless it delimits cells. */
static bool is_blank(const struct delimited *d, char c) {
    return c == ' ' || (c == '\t' && d->delimiter != '\t');
}

static bool is_line_end(char c) {
    return c == '\n' || c == '\r';
}

static void skip_blanks(struct delimited *d) {
    while (d->at < d->end && is_blank(d, *d->at))
        d->at++;
}

/* Goes behind the end of a line. */
static void end_line(struct delimited *d) {
    if (d->at == d->end)
        return;
    d->at += d->end - d->at > 1 && d->at[0] == '\r' && d->at[1] == '\n' ? 2 : 1;
    d->line++;
}

static void skip_line(struct delimited *d) {
    while (d->at < d->end && !is_line_end(*d->at))
        d->at++;
    end_line(d);
}

bool delimited_next_row(struct delimited *d) {
    while (d->at < d->end) {
        d->row = d->at;
        skip_blanks(d);
        if (d->at == d->end)
            return false;
        if (is_line_end(*d->at) || (d->comments && *d->at == '#')) {
            skip_line(d);
            continue;
        }
        if (d->delimiter != ' ')
            d->at = d->row;
        return true;
    }
    return false;
}

static enum srcfind_status too_long(const struct delimited *d, struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: line %lld has more than %d bytes: is it a catalogue?", d->path,
                     (long long)d->line, MOST_ROW_BYTES);
}

static bool is_too_long(const struct delimited *d) {
    return d->at - d->row > MOST_ROW_BYTES;
}

/* Reads a cell in quotes, to behind its closing quote. A cell without doubled quotes stays in the
 * text; others are copied. */
static enum srcfind_status read_quoted(struct delimited *d, struct delimited_cell *cell,
                                       struct error *error) {
    const int64_t first_line = d->line;
    const char *begin = ++d->at;
    int64_t length = 0;
    bool copied = false;
    for (;;) {
        const char *quote = memchr(d->at, '"', (size_t)(d->end - d->at));
        if (!quote)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: a quote is opened in line %lld and never closed: is the file "
                             "truncated?",
                             d->path, (long long)first_line);
        for (; d->at < quote; d->at++)
            d->line += *d->at == '\n';
        d->at = quote + 1;
        if (is_too_long(d))
            return too_long(d, error);
        const bool is_double = d->at < d->end && *d->at == '"';
        copied = copied || is_double;
        const int64_t n = quote - begin + is_double;
        if (copied) {
            if (!GROW(d->unquoted, d->unquoted_capacity, length + n))
                return error_memory(error, "reading a catalogue");
            memcpy(d->unquoted + length, begin, (size_t)n);
        }
        length += n;
        if (!is_double) {
            cell->text = copied ? d->unquoted : begin;
            cell->length = (size_t)length;
            return SRCFIND_OK;
        }
        begin = ++d->at;
    }
}

static bool ends_cell(const struct delimited *d, char c) {
    return c == d->delimiter || is_line_end(c) || (d->delimiter == ' ' && c == '\t');
}

static void read_plain(struct delimited *d, struct delimited_cell *cell) {
    const char *begin = d->at, *at = d->at;
    while (at < d->end && !ends_cell(d, *at))
        at++;
    d->at = at;
    while (at > begin && is_blank(d, at[-1]))
        at--;
    cell->text = begin;
    cell->length = (size_t)(at - begin);
}

/* Ends a cell. Behind a closing quote only blanks and the end of the cell may follow. */
static enum srcfind_status end_cell(struct delimited *d, struct delimited_cell *cell,
                                    bool is_quoted, struct error *error) {
    const bool ends = d->at == d->end || ends_cell(d, *d->at) || is_blank(d, *d->at);
    skip_blanks(d);
    if (is_too_long(d))
        return too_long(d, error);
    cell->is_last = d->at == d->end || is_line_end(*d->at);
    if (is_quoted && !(ends && (cell->is_last || d->delimiter == ' ' || *d->at == d->delimiter)))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: line %lld: a cell goes on behind its closing quote: quotes in a cell "
                         "are doubled",
                         d->path, (long long)d->line);
    if (cell->is_last)
        end_line(d);
    else if (d->delimiter != ' ')
        d->at++;
    return SRCFIND_OK;
}

enum srcfind_status delimited_next_cell(struct delimited *d, struct delimited_cell *cell,
                                        struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    skip_blanks(d);
    const bool is_quoted = d->at < d->end && *d->at == '"';
    if (is_quoted)
        status = read_quoted(d, cell, error);
    else
        read_plain(d, cell);
    return status == SRCFIND_OK ? end_cell(d, cell, is_quoted, error) : status;
}

/* --- names and rows --- */

enum srcfind_status delimited_read_names(struct delimited *d, struct builder *b,
                                         struct error *error) {
    const int64_t line = d->line;
    struct delimited_cell cell = {0};
    while (!cell.is_last) {
        const enum srcfind_status status = delimited_next_cell(d, &cell, error);
        if (status != SRCFIND_OK)
            return status;
        if (b->n_columns == BUILDER_MOST_COLUMNS)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: line %lld has more than %d cells: is it a catalogue?", d->path,
                             (long long)line, BUILDER_MOST_COLUMNS);
        if (!builder_add_column(b, cell.text, cell.length))
            return error_memory(error, "reading a catalogue");
    }
    return SRCFIND_OK;
}

static enum srcfind_status bad_cell(const struct delimited *d, const struct builder *b, int64_t i,
                                    int64_t line, enum builder_result result,
                                    const struct delimited_cell *cell, struct error *error) {
    char quote[TEXT_FILE_QUOTE], name[TEXT_FILE_QUOTE];
    const char *column = b->columns[i].cells.name;
    if (result == BUILDER_NO_MEMORY)
        return error_memory(error, "reading a catalogue");
    return error_set(error, SRCFIND_ERROR_INPUT, "%s: line %lld: %s is `%s`, not a %snumber",
                     d->path, (long long)line, text_file_quote(column, strlen(column), name),
                     text_file_quote(cell->text, cell->length, quote),
                     result == BUILDER_NO_WHOLE ? "whole " : "");
}

/* The delimiter, for messages. */
static const char *delimiter_text(const struct delimited *d) {
    return d->delimiter == ','    ? "`,`"
           : d->delimiter == ';'  ? "`;`"
           : d->delimiter == '|'  ? "`|`"
           : d->delimiter == '\t' ? "a tab"
                                  : "a blank";
}

static enum srcfind_status too_few(const struct delimited *d, const struct builder *b, int64_t line,
                                   int64_t n, struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: line %lld has %lld cells, but there are %lld columns: is the file "
                     "truncated, or is something else than %s between its cells?",
                     d->path, (long long)line, (long long)n, (long long)b->n_columns,
                     delimiter_text(d));
}

static enum srcfind_status too_many(const struct delimited *d, const struct builder *b,
                                    int64_t line, struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: line %lld has more cells than the %lld columns: a text with %s in it "
                     "needs quotes",
                     d->path, (long long)line, (long long)b->n_columns, delimiter_text(d));
}

static enum srcfind_status read_row(struct delimited *d, struct builder *b, struct error *error) {
    const int64_t line = d->line;
    struct delimited_cell cell = {0};
    int64_t n = 0;
    if (!builder_begin_row(b))
        return error_memory(error, "reading a catalogue");
    for (; !cell.is_last; n++) {
        const enum srcfind_status status = delimited_next_cell(d, &cell, error);
        if (status != SRCFIND_OK)
            return status;
        if (n == b->n_columns)
            return too_many(d, b, line, error);
        const enum builder_result result = builder_set(b, n, cell.text, cell.length);
        if (result != BUILDER_OK)
            return bad_cell(d, b, n, line, result, &cell, error);
    }
    if (n < b->n_columns)
        return too_few(d, b, line, n, error);
    builder_end_row(b);
    return SRCFIND_OK;
}

/* Reads the lines that begin before `stop` as rows. */
static enum srcfind_status read_until(struct delimited *d, struct builder *b, const char *stop,
                                      struct error *error) {
    const char *const at = d->at;
    const int64_t line = d->line;
    enum srcfind_status status = SRCFIND_OK;
    do {
        d->at = at;
        d->line = line;
        while (status == SRCFIND_OK && d->at < stop && delimited_next_row(d))
            status = read_row(d, b, error);
    } while (status == SRCFIND_OK && builder_restarts(b));
    return status;
}

enum srcfind_status delimited_read(const char *path, delimited_begin *begin,
                                   struct table_file *table, struct error *error) {
    struct text_file file;
    struct builder builder = {0};
    struct delimited d = {.path = path, .line = 1};
    enum srcfind_status status = text_file_open(&file, path, error);
    d.at = file.text;
    d.end = file.text + file.size;
    if (status == SRCFIND_OK)
        status = begin(&d, &builder, table, error);
    if (status == SRCFIND_OK)
        status = read_until(&d, &builder, d.end, error);
    if (status == SRCFIND_OK && !builder_finish(&builder, table))
        status = error_memory(error, "reading a catalogue");
    delimited_clear(&d);
    builder_clear(&builder);
    text_file_close(&file);
    return status;
}

/* Hands the rows of the builder to the sink. */
static enum srcfind_status hand_over(struct builder *b, const struct table_sink *sink,
                                     struct table_file *table, struct error *error) {
    enum srcfind_status status = builder_lend(b, table)
                                     ? sink->take(sink->context, table, error)
                                     : error_memory(error, "reading a catalogue");
    free(table->columns);
    table->columns = NULL;
    table->n_columns = 0;
    builder_next_block(b);
    return status;
}

/* Hands the rows over in blocks, and moves the window on, of which `d` has read the lines before
 * the rows. */
static enum srcfind_status read_windows(struct delimited *d, struct builder *b,
                                        struct text_window *window, const struct table_sink *sink,
                                        struct table_file *table, struct error *error) {
    enum srcfind_status status = text_window_count(window, &table->n_rows_most, error);
    table->n_rows_most++; /* the last line may have no end */
    while (status == SRCFIND_OK) {
        const bool is_last = window->is_last;
        const char *stop = is_last ? d->end : d->end - MOST_ROW_BYTES - 2; /* each is whole */
        status = read_until(d, b, stop, error);
        if (status == SRCFIND_OK)
            status = hand_over(b, sink, table, error);
        if (status != SRCFIND_OK || is_last)
            return status;
        status = text_window_move(window, d->at, d->line, error);
        d->at = window->text;
        d->end = window->end;
    }
    return status;
}

enum srcfind_status delimited_read_blocks(const char *path, delimited_begin *begin,
                                          const struct table_sink *sink, struct table_file *table,
                                          bool *done, struct error *error) {
    struct text_window window;
    struct builder builder = {0};
    struct delimited d = {.path = path, .line = 1};
    enum srcfind_status status = text_window_open(&window, path, done, error);
    d.at = window.text;
    d.end = window.end;
    if (status == SRCFIND_OK && *done)
        status = begin(&d, &builder, table, error);
    if (status == SRCFIND_OK && *done)
        status = read_windows(&d, &builder, &window, sink, table, error);
    delimited_clear(&d);
    builder_clear(&builder);
    text_window_close(&window);
    return status;
}
