#include "input/read_table.h"

#include <math.h>
#include <string.h>

#include "common/parse_number.h"
#include "common/path.h"
#include "input/fits/file.h"
#include "input/frame.h"
#include "input/tables/readers.h"
#include "input/tables/text_file.h"

static const struct format {
    const char *suffix, *packed;
    enum srcfind_status (*read)(const char *path, struct table_file *table, struct error *error);
    /* in place of `read`, where files may have several tables */
    enum srcfind_status (*choose)(const char *path, const struct table_wish *wish,
                                  struct table_file *table, struct error *error);
    enum srcfind_status (*read_blocks)(const char *path, const struct table_sink *sink,
                                       struct table_file *table, bool *done,
                                       struct error *error); /* NULL: as a whole */
} formats[] = {
    {".csv", ".csv.gz", csv_table_read, NULL, csv_table_read_blocks},
    {".ecsv", ".ecsv.gz", ecsv_table_read, NULL, ecsv_table_read_blocks},
    {".json", ".json.gz", json_table_read, NULL, NULL},
    {".fits", ".fits.gz", NULL, fits_table_read, fits_table_read_blocks},
    {".fit", ".fit.gz", NULL, fits_table_read, fits_table_read_blocks},
    {".vot", ".vot.gz", NULL, votable_table_read, NULL},
    {".votable", ".votable.gz", NULL, votable_table_read, NULL},
    {".xml", ".xml.gz", NULL, votable_table_read, NULL},
    {".tsv", ".tsv.gz", csv_table_read, NULL, csv_table_read_blocks},
    {".tab", ".tab.gz", csv_table_read, NULL, csv_table_read_blocks},
    {".txt", ".txt.gz", csv_table_read, NULL, csv_table_read_blocks},
    {".reg", ".reg.gz", regions_table_read, NULL, NULL},
};

/* Whether more than half of the columns have a number for a name. */
static bool are_numbers(const struct table_file *table) {
    int n = 0;
    for (int i = 0; i < table->n_columns; i++)
        n += parse_number(table->columns[i].name, strlen(table->columns[i].name)).kind !=
             NUMBER_NONE;
    return 2 * n > table->n_columns;
}

static enum srcfind_status same_name(const char *path, const struct table_file *table, int j, int i,
                                     struct error *error) {
    char quote[TEXT_FILE_QUOTE];
    const char *name = table->columns[i].name;
    text_file_quote(name, strlen(name), quote);
    if (are_numbers(table))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: no line with the names of columns is recognised, and columns %d and "
                         "%d of the first row are both %s: write the names in the first line, or "
                         "with # in the last one before the rows",
                         path, j + 1, i + 1, quote);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: columns %d and %d have one name, %s: rename one", path, j + 1, i + 1,
                     quote);
}

/* Refuses two columns of one name: a caller could not tell which one is meant. */
static enum srcfind_status check_names(const char *path, const struct table_file *table,
                                       struct error *error) {
    for (int i = 0; i < table->n_columns; i++)
        for (int j = 0; j < i; j++)
            if (*table->columns[i].name &&
                strcmp(table->columns[i].name, table->columns[j].name) == 0)
                return same_name(path, table, j, i, error);
    return SRCFIND_OK;
}

/* Finds the format of a file by its suffix, and clears the table. */
static enum srcfind_status find_format(const char *path, struct table_file *table,
                                       const struct format **format, struct error *error) {
    *table = (struct table_file){.image = {.beam = {NAN, NAN, NAN},
                                           .equinox = NAN,
                                           .frequency = NAN,
                                           .width = NAN,
                                           .height = NAN}};
    struct fits_file file; /* checks that there is a file, whatever its suffix */
    const enum srcfind_status opened = fits_file_open_any(&file, path, error);
    fits_file_close(&file);
    if (opened != SRCFIND_OK)
        return opened;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        *format = &formats[i];
        if (path_ends_with(path, formats[i].suffix) || path_ends_with(path, formats[i].packed))
            return SRCFIND_OK;
    }
    return error_set(
        error, SRCFIND_ERROR_INPUT,
        "%s: catalogues are read from .csv, .ecsv, .json, .fits and .vot (.votable, .xml), tables "
        "of text from .tsv, .tab and .txt, and positions from regions of DS9 (.reg), each also "
        "with .gz: save it as one of these, or rename it if it is a table of text",
        path);
}

enum srcfind_status read_table(const char *path, const struct table_wish *wish,
                               struct table_file *table, struct error *error) {
    const struct format *format;
    enum srcfind_status status = find_format(path, table, &format, error);
    if (status == SRCFIND_OK) {
        status = format->read ? format->read(path, table, error)
                              : format->choose(path, wish, table, error);
        frame_spell(table->image.frame);
    }
    table->n_rows_most = table->n_rows;
    return status == SRCFIND_OK ? check_names(path, table, error) : status;
}

/* A sink that checks the names of the first block, and hands all blocks over. */
struct checked {
    const char *path;
    const struct table_sink *sink;
    bool has_begun;
};

static enum srcfind_status take_checked(void *context, const struct table_file *block,
                                        struct error *error) {
    struct checked *c = context;
    struct table_file copy = *block;
    frame_spell(copy.image.frame);
    const enum srcfind_status status =
        c->has_begun ? SRCFIND_OK : check_names(c->path, block, error);
    c->has_begun = true;
    return status == SRCFIND_OK ? c->sink->take(c->sink->context, &copy, error) : status;
}

enum srcfind_status read_table_blocks(const char *path, const struct table_sink *sink,
                                      struct table_file *table, struct error *error) {
    const struct format *format;
    struct checked checked = {path, sink, false};
    const struct table_sink checking = {take_checked, &checked};
    bool done = false;
    enum srcfind_status status = find_format(path, table, &format, error);
    if (status == SRCFIND_OK && format->read_blocks)
        status = format->read_blocks(path, &checking, table, &done, error);
    if (status != SRCFIND_OK || done)
        return status;
    status = read_table(path, NULL, table, error);
    return status == SRCFIND_OK ? sink->take(sink->context, table, error) : status;
}
