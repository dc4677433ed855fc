/* Binary tables of FITS: the first one that has rows. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "input/fits/stored.h"
#include "input/fits/table.h"
#include "input/table_metadata.h"
#include "input/tables/readers.h"
#include "options/options.h"

/* A column whose cells are one number or text, and how its stored numbers become its values. */
struct scalar {
    struct table_column at;
    double scale, zero; /* TSCAL, TZERO */
    bool has_null;
    int64_t null; /* TNULL: the stored integer of empty cells */
    int64_t n_bytes, bytes_capacity;
};

struct fits {
    const char *path;
    struct fits_file file;
    struct hdu hdu;
    struct table table;
    struct scalar columns[TABLE_MOST_COLUMNS];
    int n_columns;
    bool has_ascii, has_table;
};

/* --- columns --- */

static bool is_integer(char type) {
    return type && strchr("BIJK", type);
}

/* Whether a column of characters has several texts in a row: `30A10`, or TDIM of two axes. */
static bool has_texts(const struct fits *f, const struct table_column *column) {
    char axes[SRCFIND_TEXT] = "";
    header_text(&f->hdu.header, header_keyword("TDIM", column->number).text, axes, sizeof axes);
    return isdigit((unsigned char)column->element) || strchr(axes, ',');
}

static bool is_scalar(const struct fits *f, const struct table_column *column) {
    if (column->type == 'A')
        return column->count > 0 && !has_texts(f, column);
    return column->count == 1 && (column->type == 'L' || table_bitpix(column->type) != 0);
}

static enum srcfind_kind kind_of(const struct scalar *column) {
    if (column->at.type == 'A')
        return SRCFIND_STRING;
    if (column->at.type == 'L')
        return SRCFIND_INTEGER;
    return is_integer(column->at.type) && column->scale == 1 &&
                   column->zero == floor(column->zero) && fabs(column->zero) <= 0x1p63
               ? SRCFIND_INTEGER
               : SRCFIND_REAL;
}

/* Lists the columns that can be read. */
static enum srcfind_status list_columns(struct fits *f, struct error *error) {
    const struct header *header = &f->hdu.header;
    struct table_column column = {0};
    f->n_columns = 0;
    while (table_next(&f->table, &column)) {
        if (!is_scalar(f, &column))
            continue;
        struct scalar *scalar = &f->columns[f->n_columns++];
        *scalar = (struct scalar){.at = column, .scale = 1};
        header_real(header, header_keyword("TSCAL", column.number).text, &scalar->scale);
        header_real(header, header_keyword("TZERO", column.number).text, &scalar->zero);
        scalar->has_null = header_indexed(header, "TNULL", column.number, &scalar->null);
    }
    if (column.number == f->table.n_columns)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: column %d of the table in HDU %d does not fit into its rows, or has no "
                     "valid TFORM%d: is the file damaged?",
                     f->path, column.number + 1, f->hdu.number, column.number + 1);
}

/* --- which table --- */

/* Opens the table of an HDU if it is one. */
static enum srcfind_status open_table(struct fits *f, bool *is_table, struct error *error) {
    char extension[SRCFIND_TEXT] = "";
    header_text(&f->hdu.header, "XTENSION", extension, sizeof extension);
    f->has_ascii = f->has_ascii || strcmp(extension, "TABLE") == 0;
    *is_table = strcmp(extension, "BINTABLE") == 0 && !f->hdu.is_compressed;
    if (!*is_table)
        return SRCFIND_OK;
    f->has_table = true;
    if (table_open(&f->table, &f->file, &f->hdu))
        return list_columns(f, error);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: the file ends before the table in HDU %d does, or its header is wrong: "
                     "is the file truncated?",
                     f->path, f->hdu.number);
}

/* Goes to the first table with a column that can be read and `least` rows. */
static enum srcfind_status find_table(struct fits *f, int64_t least, bool *found,
                                      struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    hdu_clear(&f->hdu);
    for (;;) {
        bool is_table;
        status = hdu_next(&f->file, &f->hdu, found, error);
        if (status == SRCFIND_OK && *found)
            status = open_table(f, &is_table, error);
        if (status != SRCFIND_OK || !*found)
            return status;
        if (is_table && f->n_columns > 0 && f->table.n_rows >= least)
            return SRCFIND_OK;
    }
}

static enum srcfind_status choose_table(struct fits *f, struct error *error) {
    bool found;
    enum srcfind_status status = find_table(f, 1, &found, error);
    if (status == SRCFIND_OK && !found)
        status = find_table(f, 0, &found, error);
    if (status != SRCFIND_OK || found)
        return status;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     f->has_table   ? "%s: no column of its tables has one number or text a row"
                     : f->has_ascii ? "%s: its table is an ASCII table: write it as a binary table"
                                    : "%s: no HDU is a binary table: is it an image?",
                     f->path);
}

/* --- cells --- */

/* The sum of a stored integer and TZERO, a whole number; false if it does not fit. */
static bool add_zero(int64_t stored, double zero, int64_t *value) {
    if (zero == 0x1p63)
        return !__builtin_add_overflow(stored, INT64_MAX, value) &&
               !__builtin_add_overflow(*value, 1, value);
    return !__builtin_add_overflow(stored, (int64_t)zero, value);
}

static void set_integer(const struct scalar *from, int64_t stored, int64_t row,
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

static void set_real(const struct scalar *from, const unsigned char *bytes, int64_t row,
                     struct table_file_column *column) {
    const double stored = load_real(bytes, table_bitpix(from->at.type), 1);
    column->reals[row] =
        from->scale == 1 && from->zero == 0 ? stored : from->zero + from->scale * stored;
}

/* Adds a text without the blanks behind it. False where memory ran out. */
static bool set_text(struct scalar *from, const unsigned char *bytes, int64_t row,
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

static bool set_cell(struct scalar *from, const unsigned char *row_bytes, int64_t row,
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

/* Allocates the cells of n rows. The file has all rows, and each has a byte of each column or more.
 */
static bool allocate(const struct fits *f, int64_t n, struct table_file *table) {
    table->columns = calloc((size_t)f->n_columns, sizeof *table->columns);
    if (!table->columns)
        return false;
    table->n_columns = f->n_columns;
    table->n_rows = n;
    table->n_rows_most = f->table.n_rows;
    for (int i = 0; i < f->n_columns; i++) {
        struct table_file_column *column = &table->columns[i];
        char name[SRCFIND_TEXT];
        table_name(&f->table, &f->columns[i].at, name);
        column->name = strdup(name);
        header_text(&f->hdu.header, header_keyword("TUNIT", f->columns[i].at.number).text,
                    column->unit, sizeof column->unit);
        column->kind = kind_of(&f->columns[i]);
        column->integers = arrays_allocate(table->n_rows, sizeof *column->integers);
        column->bytes = column->kind == SRCFIND_STRING ? calloc(1, 1) : NULL;
        if (!column->name || !column->integers ||
            (column->kind == SRCFIND_STRING && !column->bytes))
            return false;
    }
    return true;
}

/* The rows that are read from the file at a time. */
static int64_t block_rows(const struct fits *f) {
    enum { BLOCK_BYTES = 1 << 20 };
    return f->table.row_bytes < BLOCK_BYTES ? BLOCK_BYTES / f->table.row_bytes : 1;
}

/* Reads n rows to the table, from its row `to` on. */
static enum srcfind_status read_block(struct fits *f, unsigned char *block, int64_t first,
                                      int64_t n, int64_t to, struct table_file *table,
                                      struct error *error) {
    const int64_t row_bytes = f->table.row_bytes;
    enum srcfind_status status =
        fits_file_read(&f->file, block, n * row_bytes, f->table.data + first * row_bytes, error);
    for (int i = 0; status == SRCFIND_OK && i < f->n_columns; i++)
        for (int64_t k = 0; status == SRCFIND_OK && k < n; k++)
            if (!set_cell(&f->columns[i], block + k * row_bytes, to + k, &table->columns[i]))
                status = error_memory(error, "reading a catalogue");
    return status;
}

/* Forgets the rows of a block. */
static void begin_block(struct fits *f, int64_t n, struct table_file *table) {
    table->n_rows = n;
    for (int i = 0; i < f->n_columns; i++) {
        f->columns[i].n_bytes = 1;
        table->columns[i].kind = kind_of(&f->columns[i]);
    }
}

/* Reads all rows or, with a sink, hands them over in blocks. */
static enum srcfind_status read_rows(struct fits *f, const struct table_sink *sink,
                                     struct table_file *table, struct error *error) {
    const int64_t n_rows = f->table.n_rows, most = block_rows(f);
    unsigned char *block = malloc((size_t)(most * f->table.row_bytes));
    enum srcfind_status status = block ? SRCFIND_OK : error_memory(error, "reading a catalogue");
    int64_t first = 0;
    do {
        const int64_t n = n_rows - first < most ? n_rows - first : most;
        if (sink)
            begin_block(f, n, table);
        if (status == SRCFIND_OK && n > 0)
            status = read_block(f, block, first, n, sink ? 0 : first, table, error);
        if (status == SRCFIND_OK && sink)
            status = sink->take(sink->context, table, error);
        first += n;
    } while (status == SRCFIND_OK && first < n_rows);
    free(block);
    return status;
}

static enum srcfind_status read_table(struct fits *f, const struct table_sink *sink,
                                      struct table_file *table, struct error *error) {
    const int64_t n = f->table.n_rows, most = block_rows(f);
    if (!allocate(f, sink && n > most ? most : n, table))
        return error_memory(error, "reading a catalogue");
    for (int i = 0; i < f->n_columns; i++)
        f->columns[i].n_bytes = f->columns[i].bytes_capacity = 1;
    return read_rows(f, sink, table, error);
}

/* --- metadata --- */

/* Reads a text that may go on in CONTINUE cards (FITS 4.0, section 4.2.1.2); *text is to be freed,
 * and NULL if there is none. False where memory ran out. */
static bool read_long_text(const struct header *header, const char *keyword, char **text) {
    int64_t i = 0;
    const char *card = header_next(header, keyword, &i);
    char part[SRCFIND_TEXT];
    int64_t length = 0, capacity = 0;
    *text = NULL;
    bool goes_on = card && header_text(header, keyword, part, sizeof part);
    while (goes_on) {
        char copy[CARD + 1] = "CONTINUE=";
        const struct header next = {copy, 1};
        const int64_t n = (int64_t)strlen(part);
        goes_on = n > 0 && part[n - 1] == '&' && i < header->n_cards &&
                  memcmp(header->cards + CARD * i, "CONTINUE  ", 10) == 0;
        if (!GROW(*text, capacity, length + n + 1))
            return false;
        memcpy(*text + length, part, (size_t)n + 1);
        length += goes_on ? n - 1 : n;
        if (goes_on)
            memcpy(copy + 9, header->cards + CARD * i++ + 9, CARD - 9);
        goes_on = goes_on && header_text(&next, "CONTINUE", part, sizeof part);
        (*text)[length] = '\0';
    }
    return true;
}

enum { HISTORY_TEXT = OPTIONS_TEXT + CARD };

/* The next line of HISTORY, without blanks at its end. cards_add_history breaks lines of more than
 * 72 characters over several cards. False at the end of the header. */
static bool next_line(const struct header *header, int64_t *i, char text[HISTORY_TEXT]) {
    const char *card = header_next(header, "HISTORY", i);
    size_t length = 0;
    if (!card)
        return false;
    while (card) {
        int64_t next = *i;
        snprintf(text + length, HISTORY_TEXT - length, "%.*s", CARD - 8, card + 8);
        length += CARD - 8;
        card = card[CARD - 1] != ' ' ? header_next(header, "HISTORY", &next) : NULL;
        if (!card || strncmp(card + 8, "srcfind ", 8) == 0 || length + CARD > HISTORY_TEXT)
            break;
        *i = next;
    }
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
    return true;
}

/* Takes the options from lines of HISTORY: `srcfind option NAME: VALUE`. False where memory ran
 * out. */
static bool take_options(const struct header *header, struct table_file *table) {
    static const char begin[] = "srcfind option ";
    char text[HISTORY_TEXT];
    int64_t i = 0;
    bool ok = true;
    while (ok && next_line(header, &i, text)) {
        const char *option = text + strspn(text, " ");
        char *colon = strchr(option, ':');
        if (strncmp(option, begin, strlen(begin)) != 0 || !colon)
            continue;
        *colon = '\0';
        ok =
            table_metadata_set_option(table, option + strlen(begin), colon + 1 + (colon[1] == ' '));
    }
    return ok;
}

/* False where memory ran out. */
static bool take_metadata(const struct header *header, struct table_file *table) {
    const struct table_metadata *m;
    bool ok = true;
    for (int i = 0; ok && (m = table_metadata_describe(i)); i++) {
        void *to = (char *)table + m->offset;
        if (m->offset && m->kind == METADATA_IS_PATH)
            ok = read_long_text(header, m->keyword, to);
        else if (m->offset && m->kind == METADATA_IS_TEXT)
            header_text(header, m->keyword, to, SRCFIND_TEXT);
        else if (m->offset)
            header_real(header, m->keyword, to);
    }
    if (!*table->frame)
        header_text(header, "FRAME", table->frame, sizeof table->frame);
    return ok && take_options(header, table);
}

static enum srcfind_status read_file(const char *path, const struct table_sink *sink,
                                     struct table_file *table, struct error *error) {
    struct fits *f = calloc(1, sizeof *f);
    if (!f)
        return error_memory(error, "reading a catalogue");
    f->path = path;
    enum srcfind_status status = fits_file_open(&f->file, path, error);
    if (status == SRCFIND_OK)
        status = choose_table(f, error);
    if (status == SRCFIND_OK && !take_metadata(&f->hdu.header, table))
        status = error_memory(error, "reading a catalogue");
    if (status == SRCFIND_OK)
        status = read_table(f, sink, table, error);
    if (status == SRCFIND_OK)
        status = fits_file_checksum(&f->file, error);
    if (status == SRCFIND_OK)
        status = fits_file_unchanged(&f->file, &f->file.version, error);
    hdu_clear(&f->hdu);
    fits_file_close(&f->file);
    free(f);
    return status;
}

enum srcfind_status fits_table_read(const char *path, struct table_file *table,
                                    struct error *error) {
    return read_file(path, NULL, table, error);
}

enum srcfind_status fits_table_read_blocks(const char *path, const struct table_sink *sink,
                                           struct table_file *table, bool *done,
                                           struct error *error) {
    *done = true;
    return read_file(path, sink, table, error);
}
