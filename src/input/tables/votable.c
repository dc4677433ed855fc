/* VOTable 1.0 to 1.4, of any program, with the rows as TABLEDATA, BINARY or BINARY2:
 *
 * 1. expat reads the XML, and calls begin_element, end_element and take_text. It is given the file
 *    piece by piece. Declared entities are refused.
 * 2. The fields of each TABLE are collected. Once the rows begin, all of them are known: the table
 *    is taken if it suits better than the one that was taken before (choose_table). A file whose
 *    best table has rows is not read further.
 * 3. A cell of TABLEDATA is collected until its TD ends. Text of a STREAM is decoded from base64 to
 *    `bytes`, from which rows are taken as soon as they are complete.
 * 4. PARAMs of the first TABLE are the metadata of srcfind, if it wrote the file; of others, a
 *    COOSYS that is the only one gives the frame.
 *
 * Always: a cell has at most MOST_TEXT bytes, a row MOST_ROW; errors have the line. */
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "input/frame.h"
#include "input/table_metadata.h"
#include "input/tables/readers.h"
#include "input/tables/text_file.h"
#include "input/tables/votable_rows.h"

enum { MOST_TEXT = 1 << 20, MOST_ROW = 1 << 26, PIECE = 1 << 20 };

enum rows { NO_ROWS, TABLEDATA, BINARY, BINARY2 };

struct base64 {
    unsigned bits;
    int n; /* digits in bits */
};

struct votable {
    const char *path;
    XML_Parser parser;
    const struct table_wish *wish; /* NULL: the first table with rows */
    struct table_file *table;
    enum srcfind_status status; /* an error that is set */
    struct error *error;

    /* The TABLE that is being read. */
    struct builder current;
    struct votable_field *fields;
    int64_t n_fields, fields_capacity, n_cells;
    bool is_in_table, is_chosen, is_taken;
    enum rows rows;
    bool is_in_cell, is_in_stream;
    char *text; /* of the cell */
    int64_t n_text, text_capacity;
    unsigned char *bytes; /* of rows that are not complete */
    int64_t n_bytes, bytes_capacity;
    struct base64 base64;

    /* All of the file. */
    struct builder best;
    int best_rank; /* -1: none was taken */
    int n_tables, n_systems;
    bool has_root, is_done;
};

/* --- errors --- */

__attribute__((format(printf, 2, 3))) static void wrong(struct votable *v, const char *format,
                                                        ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (v->status == SRCFIND_OK)
        v->status = error_set(v->error, SRCFIND_ERROR_INPUT, "%s: line %llu: %s", v->path,
                              (unsigned long long)XML_GetCurrentLineNumber(v->parser), text);
    XML_StopParser(v->parser, XML_FALSE);
}

static void out_of_memory(struct votable *v) {
    if (v->status == SRCFIND_OK)
        v->status = error_memory(v->error, "reading a catalogue");
    XML_StopParser(v->parser, XML_FALSE);
}

static void check_cell(struct votable *v, enum builder_result result, int64_t field) {
    const struct votable_field *f = &v->fields[field];
    const char *name = v->best.columns[f->column].cells.name;
    char quote[TEXT_FILE_QUOTE];
    if (result == BUILDER_NO_MEMORY)
        out_of_memory(v);
    else if (result != BUILDER_OK)
        wrong(v, "a cell of %s in row %lld is no %snumber",
              text_file_quote(name, strlen(name), quote), (long long)v->best.n_rows + 1,
              result == BUILDER_NO_WHOLE ? "whole " : "");
}

/* --- attributes --- */

/* The value of an attribute; "" if there is none. */
static const char *attribute(const XML_Char **attributes, const char *name) {
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return "";
}

static void take_param(struct votable *v, const XML_Char **attributes) {
    static const char option[] = "option_";
    const char *name = attribute(attributes, "name"), *value = attribute(attributes, "value");
    const bool is_option = strncmp(name, option, sizeof option - 1) == 0;
    if (v->n_tables > 1 || !v->is_in_table)
        return;
    if (!(is_option ? table_metadata_set_option(v->table, name + sizeof option - 1, value)
                    : table_metadata_set(v->table, name, value)))
        out_of_memory(v);
}

/* Takes the frame of a COOSYS; several are of different columns. */
static void take_system(struct votable *v, const XML_Char **attributes) {
    const char *system = attribute(attributes, "system");
    const char *equinox = attribute(attributes, "equinox");
    struct table_file_image *image = &v->table->image;
    if (*equinox == 'J' || *equinox == 'B')
        equinox++;
    if (++v->n_systems > 1) {
        *image->frame = '\0';
        return;
    }
    for (const struct frame *f = frames; f < frames + FRAMES; f++)
        if (f->votable && strcmp(f->votable, system) == 0) {
            const struct number number = parse_number(equinox, strlen(equinox));
            snprintf(image->frame, sizeof image->frame, "%s", f->name);
            if (number.kind != NUMBER_NONE || f->equinox > 0)
                image->equinox = number.kind != NUMBER_NONE ? number.real : f->equinox;
            return;
        }
}

static void take_field(struct votable *v, const XML_Char **attributes) {
    const char *name = attribute(attributes, "name"), *type = attribute(attributes, "datatype");
    struct votable_field field = {.column = -1};
    bool is_single;
    if (!*name)
        name = attribute(attributes, "ID");
    if (!votable_field_set(&field, type, attribute(attributes, "arraysize"), &is_single)) {
        wrong(v, "a FIELD has no valid datatype and arraysize");
        return;
    }
    if (v->n_fields == BUILDER_MOST_COLUMNS) {
        wrong(v, "more than %d fields", BUILDER_MOST_COLUMNS);
        return;
    }
    if (!GROW(v->fields, v->fields_capacity, v->n_fields + 1) ||
        (is_single && !builder_add_column(&v->current, name, strlen(name)))) {
        out_of_memory(v);
        return;
    }
    if (is_single) {
        field.column = v->current.n_columns - 1;
        builder_declare(&v->current, field.column, votable_field_kind(&field));
        builder_set_unit(&v->current, field.column, attribute(attributes, "unit"));
    }
    v->fields[v->n_fields++] = field;
}

/* Takes the number of empty cells from the VALUES of the last field. */
static void take_values(struct votable *v, const XML_Char **attributes) {
    const char *null = attribute(attributes, "null");
    const struct number number = parse_number(null, strlen(null));
    if (!v->is_in_table || v->is_chosen || v->n_fields == 0 || number.kind != NUMBER_INTEGER)
        return;
    v->fields[v->n_fields - 1].has_null = true;
    v->fields[v->n_fields - 1].null = number.integer;
}

/* --- which table --- */

static void begin_table(struct votable *v, const XML_Char **attributes) {
    if (v->is_in_table) {
        wrong(v, "a TABLE is in another one");
        return;
    }
    const char *name = attribute(attributes, "name");
    char quote[TEXT_FILE_QUOTE], *list = v->table->tables;
    const size_t length = strlen(list);
    v->is_in_table = true;
    v->is_chosen = v->is_taken = false;
    v->rows = NO_ROWS;
    v->n_fields = 0;
    v->n_tables++;
    snprintf(list + length, sizeof v->table->tables - length, "%stable %d%s%s%s",
             length ? ", " : "", v->n_tables, *name ? " (" : "",
             text_file_quote(name, strlen(name), quote), *name ? ")" : "");
}

/* The rank of the table that is being read; -1 where memory ran out. */
static int rank_table(struct votable *v) {
    struct table_file names = {0};
    if (!builder_lend(&v->current, &names))
        return -1;
    const int rank = v->wish ? v->wish->rank(&names, v->wish) : TABLE_FILE_BEST;
    free(names.columns);
    return rank;
}

/* Takes the table, whose fields are known, if it suits better than those before. */
static void choose_table(struct votable *v) {
    if (v->is_chosen)
        return;
    v->is_chosen = true;
    const int rank = v->current.n_columns > 0 ? rank_table(v) : v->best_rank - 1;
    if (v->current.n_columns > 0 && rank < 0) {
        out_of_memory(v);
        return;
    }
    v->is_taken = rank > v->best_rank || (rank == v->best_rank && v->best.n_rows == 0);
    if (!v->is_taken)
        return;
    builder_clear(&v->best);
    v->best = v->current;
    v->best_rank = rank;
    v->current = (struct builder){0};
}

static void end_table(struct votable *v) {
    choose_table(v);
    builder_clear(&v->current);
    v->is_in_table = false;
    v->is_done = v->best_rank == TABLE_FILE_BEST && v->best.n_rows > 0;
    if (v->is_done)
        XML_StopParser(v->parser, XML_FALSE);
}

/* --- rows of text --- */

static void begin_row(struct votable *v) {
    v->n_cells = 0;
    if (!builder_begin_row(&v->best))
        out_of_memory(v);
}

static void end_row(struct votable *v) {
    if (v->n_cells < v->n_fields)
        wrong(v, "row %lld has %lld cells, but there are %lld fields",
              (long long)v->best.n_rows + 1, (long long)v->n_cells, (long long)v->n_fields);
    else
        builder_end_row(&v->best);
}

static void begin_cell(struct votable *v) {
    v->n_text = 0;
    v->is_in_cell = v->n_cells < v->n_fields;
    if (!v->is_in_cell)
        wrong(v, "row %lld has more cells than there are fields", (long long)v->best.n_rows + 1);
}

static void end_cell(struct votable *v) {
    const struct votable_field *field = &v->fields[v->n_cells];
    if (field->column >= 0)
        check_cell(v, votable_set_text(&v->best, field, v->text ? v->text : "", (size_t)v->n_text),
                   v->n_cells);
    v->is_in_cell = false;
    v->n_cells++;
}

static void add_text(struct votable *v, const XML_Char *text, int length) {
    if (v->fields[v->n_cells].column < 0)
        return;
    if (v->n_text + length > MOST_TEXT) {
        wrong(v, "a cell is too long: is it a catalogue?");
        return;
    }
    if (!GROW(v->text, v->text_capacity, v->n_text + length)) {
        out_of_memory(v);
        return;
    }
    memcpy(v->text + v->n_text, text, (size_t)length);
    v->n_text += length;
}

/* --- rows of bytes --- */

/* The value of a digit of base64; -1: it is none. */
static int digit_of(char c) {
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Adds the bytes of the digits so far, three of four digits; `=` stands for digits that lack. */
static void add_bytes(struct votable *v) {
    struct base64 *b = &v->base64;
    const unsigned bits = b->bits << 6 * (4 - b->n);
    for (int i = 0; i + 1 < b->n; i++)
        v->bytes[v->n_bytes++] = (unsigned char)(bits >> (16 - 8 * i));
    *b = (struct base64){0};
}

static void decode(struct votable *v, const XML_Char *text, int length) {
    if (!GROW(v->bytes, v->bytes_capacity, v->n_bytes + length + 3)) {
        out_of_memory(v);
        return;
    }
    for (int i = 0; i < length; i++) {
        const int digit = digit_of(text[i]);
        if (digit < 0 && !strchr("= \t\r\n", text[i])) {
            wrong(v, "a STREAM has a character that is not base64");
            return;
        }
        if (digit >= 0) {
            v->base64.bits = v->base64.bits << 6 | (unsigned)digit;
            v->base64.n++;
        }
        if (v->base64.n == 4 || text[i] == '=')
            add_bytes(v);
    }
}

/* Sets the rows that are complete, and keeps the bytes that follow. */
static void take_rows(struct votable *v) {
    const bool has_flags = v->rows == BINARY2;
    int64_t from = 0, size = 0;
    while (v->status == SRCFIND_OK && from < v->n_bytes &&
           (size = votable_row_size(v->fields, v->n_fields, has_flags, v->bytes + from,
                                    v->n_bytes - from)) > 0) {
        if (!builder_begin_row(&v->best) ||
            votable_set_row(&v->best, v->fields, v->n_fields, has_flags, v->bytes + from) !=
                BUILDER_OK) {
            out_of_memory(v);
            return;
        }
        builder_end_row(&v->best);
        from += size;
    }
    v->n_bytes -= from;
    if (v->n_bytes > 0)
        memmove(v->bytes, v->bytes + from, (size_t)v->n_bytes);
    if (size < 0 || v->n_bytes > MOST_ROW)
        wrong(v, "row %lld is no row: do the fields fit?", (long long)v->best.n_rows + 1);
}

static void begin_stream(struct votable *v, const XML_Char **attributes) {
    const char *encoding = attribute(attributes, "encoding");
    char quote[TEXT_FILE_QUOTE];
    v->n_bytes = 0;
    v->base64 = (struct base64){0};
    v->is_in_stream = true;
    if (*attribute(attributes, "href"))
        wrong(v, "the rows are in another file, which is not read: save the table with its rows");
    else if (strcmp(encoding, "base64") != 0)
        wrong(v, "the rows are encoded as `%s`: save the table with base64 or TABLEDATA",
              text_file_quote(encoding, strlen(encoding), quote));
}

static void end_stream(struct votable *v) {
    v->is_in_stream = false;
    if (v->base64.n > 0)
        add_bytes(v);
    take_rows(v);
    if (v->status == SRCFIND_OK && v->n_bytes > 0)
        wrong(v, "the STREAM ends within row %lld", (long long)v->best.n_rows + 1);
}

/* --- elements --- */

/* The name of an element without that of its namespace. */
static const char *local_name(const XML_Char *name) {
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static bool is(const char *name, const char *other) {
    return strcmp(name, other) == 0;
}

static void begin_in_rows(struct votable *v, const char *name, const XML_Char **attributes) {
    if (is(name, "TR") && v->rows == TABLEDATA)
        begin_row(v);
    else if (is(name, "TD") && v->rows == TABLEDATA)
        begin_cell(v);
    else if (is(name, "STREAM"))
        begin_stream(v, attributes);
}

static void begin_in_table(struct votable *v, const char *name, const XML_Char **attributes) {
    if (is(name, "FIELD") && !v->is_chosen)
        take_field(v, attributes);
    else if (is(name, "VALUES"))
        take_values(v, attributes);
    else if (is(name, "DATA"))
        choose_table(v);
    else if (v->is_taken && is(name, "FITS"))
        wrong(v, "the rows are in FITS within the file: save the table as FITS");
    else if (v->is_taken && v->rows == NO_ROWS)
        v->rows = is(name, "TABLEDATA") ? TABLEDATA
                  : is(name, "BINARY")  ? BINARY
                  : is(name, "BINARY2") ? BINARY2
                                        : NO_ROWS;
    else if (v->is_taken)
        begin_in_rows(v, name, attributes);
}

static void begin_element(void *context, const XML_Char *qualified, const XML_Char **attributes) {
    struct votable *v = context;
    const char *name = local_name(qualified);
    char quote[TEXT_FILE_QUOTE];
    if (!v->has_root && !is(name, "VOTABLE"))
        wrong(v, "this is no VOTable: its XML begins with the element %s",
              text_file_quote(name, strlen(name), quote));
    v->has_root = true;
    if (v->status != SRCFIND_OK)
        return;
    if (is(name, "TABLE"))
        begin_table(v, attributes);
    else if (is(name, "COOSYS"))
        take_system(v, attributes);
    else if (is(name, "PARAM"))
        take_param(v, attributes);
    else if (v->is_in_table)
        begin_in_table(v, name, attributes);
}

static void end_element(void *context, const XML_Char *qualified) {
    struct votable *v = context;
    const char *name = local_name(qualified);
    if (v->status != SRCFIND_OK || !v->is_in_table)
        return;
    if (is(name, "TABLE"))
        end_table(v);
    else if (is(name, "TD") && v->is_in_cell)
        end_cell(v);
    else if (is(name, "TR") && v->rows == TABLEDATA)
        end_row(v);
    else if (is(name, "STREAM") && v->is_in_stream)
        end_stream(v);
    else if (is(name, "DATA"))
        v->rows = NO_ROWS;
}

static void take_text(void *context, const XML_Char *text, int length) {
    struct votable *v = context;
    if (v->status != SRCFIND_OK)
        return;
    if (v->is_in_cell)
        add_text(v, text, length);
    else if (v->is_in_stream) {
        decode(v, text, length);
        if (v->status == SRCFIND_OK)
            take_rows(v);
    }
}

static void refuse_entity(void *context, const XML_Char *name, int is_parameter,
                          const XML_Char *value, int length, const XML_Char *base,
                          const XML_Char *system_id, const XML_Char *public_id,
                          const XML_Char *notation) {
    (void)name, (void)is_parameter, (void)value, (void)length;
    (void)base, (void)system_id, (void)public_id, (void)notation;
    wrong(context, "entities are not read: save the table without a DOCTYPE");
}

/* --- the file --- */

static enum srcfind_status bad_xml(struct votable *v) {
    const enum XML_Error code = XML_GetErrorCode(v->parser);
    const bool is_cut = code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN ||
                        code == XML_ERROR_PARTIAL_CHAR || code == XML_ERROR_UNCLOSED_CDATA_SECTION;
    if (code == XML_ERROR_NO_MEMORY)
        return error_memory(v->error, "reading a catalogue");
    const unsigned long long line = XML_GetCurrentLineNumber(v->parser);
    return is_cut ? error_set(v->error, SRCFIND_ERROR_INPUT,
                              "%s: the file ends in line %llu, within its XML: is it truncated?",
                              v->path, line)
                  : error_set(v->error, SRCFIND_ERROR_INPUT, "%s: line %llu: no valid XML: %s",
                              v->path, line, XML_ErrorString(code));
}

static enum srcfind_status parse(struct votable *v, const struct text_file *file) {
    for (int64_t at = 0;;) {
        const int64_t n = file->size - at < PIECE ? file->size - at : PIECE;
        const bool is_last = at + n == file->size;
        const enum XML_Status ok = XML_Parse(v->parser, file->text + at, (int)n, is_last);
        if (v->status != SRCFIND_OK || v->is_done)
            return v->status;
        if (ok != XML_STATUS_OK)
            return bad_xml(v);
        if (is_last)
            return SRCFIND_OK;
        at += n;
    }
}

static enum srcfind_status read_text(struct votable *v, const struct text_file *file) {
    v->parser = XML_ParserCreate(NULL);
    if (!v->parser)
        return error_memory(v->error, "reading a catalogue");
    XML_SetUserData(v->parser, v);
    XML_SetElementHandler(v->parser, begin_element, end_element);
    XML_SetCharacterDataHandler(v->parser, take_text);
    XML_SetEntityDeclHandler(v->parser, refuse_entity);
    const enum srcfind_status status = parse(v, file);
    XML_ParserFree(v->parser);
    if (status != SRCFIND_OK)
        return status;
    if (v->best_rank < 0)
        return error_set(v->error, SRCFIND_ERROR_INPUT,
                         "%s: no TABLE has a field of one number or text a row", v->path);
    v->table->may_have_others = v->n_tables > 1 || v->is_done;
    return builder_finish(&v->best, v->table) ? SRCFIND_OK
                                              : error_memory(v->error, "reading a catalogue");
}

enum srcfind_status votable_table_read(const char *path, const struct table_wish *wish,
                                       struct table_file *table, struct error *error) {
    struct text_file file;
    struct votable v = {
        .path = path, .wish = wish, .table = table, .error = error, .best_rank = -1};
    enum srcfind_status status = text_file_open(&file, path, error);
    if (status == SRCFIND_OK)
        status = read_text(&v, &file);
    builder_clear(&v.current);
    builder_clear(&v.best);
    free(v.fields);
    free(v.text);
    free(v.bytes);
    text_file_close(&file);
    return status;
}
