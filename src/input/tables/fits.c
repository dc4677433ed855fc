/* Tables of FITS files, binary and ASCII: the one that suits best, of these the first. */
#include <stdlib.h>
#include <string.h>

#include "common/texts.h"
#include "input/tables/ascii_rows.h"
#include "input/tables/binary_rows.h"
#include "input/tables/fits_metadata.h"
#include "input/tables/readers.h"

struct fits {
    const char *path;
    struct fits_file file;
    struct hdu hdu;
    struct table table;
    bool is_ascii, has_table;
    struct binary_columns binary;
    struct ascii_columns ascii;
};

/* --- columns --- */

static int count_columns(const struct fits *f) {
    return f->is_ascii ? f->ascii.n : f->binary.n;
}

/* Lists the columns that can be read. */
static enum srcfind_status list_columns(struct fits *f, struct error *error) {
    const int bad = f->is_ascii ? ascii_columns_list(&f->table, &f->ascii)
                                : binary_columns_list(&f->table, &f->binary);
    if (bad > 0)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: column %d of the table in HDU %d does not fit into its rows, or has "
                         "no valid TFORM%d%s: is the file damaged?",
                         f->path, bad, f->hdu.number, bad, f->is_ascii ? " and TBCOLn" : "");
    if (f->is_ascii && ascii_columns_overlap(&f->ascii))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: columns of the ASCII table in HDU %d overlap: write it as a binary "
                         "table",
                         f->path, f->hdu.number);
    return SRCFIND_OK;
}

/* Makes the columns of a table, with names and units, but without cells. */
static bool name_columns(const struct fits *f, struct table_file *table) {
    const int n = count_columns(f);
    table->columns = calloc((size_t)n, sizeof *table->columns);
    if (!table->columns)
        return false;
    table->n_columns = n;
    for (int i = 0; i < n; i++) {
        struct table_file_column *column = &table->columns[i];
        const int number =
            f->is_ascii ? f->ascii.field[i].at.number : f->binary.column[i].at.number;
        char name[SRCFIND_TEXT];
        table_name(&f->table, number, name);
        column->name = strdup(name);
        header_text(&f->hdu.header, header_keyword("TUNIT", number).text, column->unit,
                    sizeof column->unit);
        if (!column->name)
            return false;
    }
    return true;
}

/* --- which table --- */

/* Opens the table of an HDU if it is one. */
static enum srcfind_status open_table(struct fits *f, bool *is_table, struct error *error) {
    char extension[SRCFIND_TEXT] = "";
    header_text(&f->hdu.header, "XTENSION", extension, sizeof extension);
    f->is_ascii = strcmp(extension, "TABLE") == 0;
    *is_table = f->is_ascii || (strcmp(extension, "BINTABLE") == 0 && !f->hdu.is_compressed);
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

/* Goes to the next table with a column that can be read. */
static enum srcfind_status next_table(struct fits *f, bool *found, struct error *error) {
    for (;;) {
        bool is_table = false;
        enum srcfind_status status = hdu_next(&f->file, &f->hdu, found, error);
        if (status == SRCFIND_OK && *found)
            status = open_table(f, &is_table, error);
        if (status != SRCFIND_OK || !*found || (is_table && count_columns(f) > 0))
            return status;
    }
}

enum { BEST_SCORE = 2 * TABLE_FILE_BEST + 1 };

/* How well the open table suits: its columns, then whether it has rows. Without a wish, a binary
 * table suits better. Negative where memory ran out. */
static int score_table(const struct fits *f, const struct table_wish *wish) {
    struct table_file names = {0};
    int rank = f->is_ascii ? 0 : TABLE_FILE_BEST;
    if (wish && !name_columns(f, &names))
        rank = -1;
    else if (wish)
        rank = wish->rank(&names, wish);
    table_file_clear(&names);
    return rank < 0 ? -1 : 2 * rank + (f->table.n_rows > 0);
}

/* Adds the open table to those that the file has, as far as they fit. */
static void note_table(const struct fits *f, struct table_file *table) {
    char name[SRCFIND_TEXT] = "";
    header_text(&f->hdu.header, "EXTNAME", name, sizeof name);
    texts_append(table->tables, sizeof table->tables, "%sHDU %d%s%s%s", *table->tables ? ", " : "",
                 f->hdu.number, *name ? " (" : "", name, *name ? ")" : "");
}

/* Looks at the tables up to one of the highest rank. Sets *number to the HDU of the table that
 * suits best. */
static enum srcfind_status look_at_tables(struct fits *f, const struct table_wish *wish,
                                          struct table_file *table, int *number,
                                          struct error *error) {
    int best = -1, n = 0;
    bool found = true;
    while (best < BEST_SCORE) {
        enum srcfind_status status = next_table(f, &found, error);
        if (status != SRCFIND_OK)
            return status;
        if (!found)
            break;
        const int score = score_table(f, wish);
        if (score < 0)
            return error_memory(error, "reading a catalogue");
        if (score > best)
            *number = f->hdu.number;
        best = score > best ? score : best;
        note_table(f, table);
        n++;
    }
    table->may_have_others = n > 1 || found;
    if (n > 0)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     f->has_table ? "%s: no column of its tables has one number or text a row"
                                  : "%s: no HDU is a table: is it an image?",
                     f->path);
}

/* Opens the table that suits best. */
static enum srcfind_status choose_table(struct fits *f, const struct table_wish *wish,
                                        struct table_file *table, struct error *error) {
    int number = 0;
    bool found = true;
    enum srcfind_status status = look_at_tables(f, wish, table, &number, error);
    if (status != SRCFIND_OK || f->hdu.number == number)
        return status;
    hdu_clear(&f->hdu);
    do /* once at least: a damaged file may have its table in HDU 0 */
        status = next_table(f, &found, error);
    while (status == SRCFIND_OK && found && f->hdu.number < number);
    return status;
}

/* --- all of it --- */

/* Reads all rows or, with a sink, hands them over: of a binary table in blocks. */
static enum srcfind_status read_table(struct fits *f, const struct table_sink *sink,
                                      struct table_file *table, struct error *error) {
    if (!fits_metadata_take(&f->hdu.header, table) || !name_columns(f, table))
        return error_memory(error, "reading a catalogue");
    if (!f->is_ascii)
        return binary_rows_read(&f->binary, sink, table, error);
    const enum srcfind_status status = ascii_rows_read(&f->ascii, table, error);
    table->n_rows_most = table->n_rows;
    return status == SRCFIND_OK && sink ? sink->take(sink->context, table, error) : status;
}

static enum srcfind_status read_file(const char *path, const struct table_wish *wish,
                                     const struct table_sink *sink, struct table_file *table,
                                     struct error *error) {
    struct fits *f = calloc(1, sizeof *f);
    if (!f)
        return error_memory(error, "reading a catalogue");
    f->path = path;
    enum srcfind_status status = fits_file_open(&f->file, path, error);
    if (status == SRCFIND_OK)
        status = choose_table(f, wish, table, error);
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

enum srcfind_status fits_table_read(const char *path, const struct table_wish *wish,
                                    struct table_file *table, struct error *error) {
    return read_file(path, wish, NULL, table, error);
}

enum srcfind_status fits_table_read_blocks(const char *path, const struct table_sink *sink,
                                           struct table_file *table, bool *done,
                                           struct error *error) {
    *done = true;
    return read_file(path, NULL, sink, table, error);
}
