/* The public calls for catalogues. A catalogue is a table, and finds the other tables of its result
 * by their kind (output/catalogue.c): the first call for a table makes it, later ones return it,
 * and srcfind_catalogue_destroy frees all. Calls for metadata read the result, which the tables
 * share. Writing checks that the format can hold the kind of table, and then saves a file that is
 * complete or not there (output/save.c). */
#include "output/catalogue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/finder.h"
#include "common/path.h"
#include "input/image.h"
#include "output/save.h"

void srcfind_catalogue_destroy(struct srcfind_catalogue *catalogue) {
    if (catalogue)
        catalogue_destroy(catalogue);
}

int64_t srcfind_catalogue_size(const struct srcfind_catalogue *catalogue) {
    return catalogue->table.n_rows;
}

int64_t srcfind_catalogue_negatives(const struct srcfind_catalogue *catalogue) {
    const enum table_kind kind = catalogue->table.kind;
    const bool are_sources =
        kind == TABLE_OF_SOURCES || kind == TABLE_OF_GAUSSIANS || kind == TABLE_OF_CHOSEN;
    int64_t n = 0;
    for (int64_t i = 0; are_sources && i < catalogue->table.n_rows; i++)
        n += (srcfind_catalogue_source(catalogue, i)->flags & SRCFIND_FLAG_NEGATIVE) != 0;
    return n;
}

const struct srcfind_source *srcfind_catalogue_source(const struct srcfind_catalogue *catalogue,
                                                      int64_t i) {
    const struct table *table = &catalogue->table;
    const struct sources *sources = &table->of->sources;
    return table->kind == TABLE_OF_GAUSSIANS ? (const struct srcfind_source *)table->rows + i
                                             : &sources->rows[sources_place(sources, i)];
}

const struct srcfind_catalogue *srcfind_catalogue_gaussians(struct srcfind_catalogue *catalogue) {
    const struct options *o = &catalogue->table.of->options;
    return options_fit(o) && !*o->at ? catalogue_table(catalogue, TABLE_OF_GAUSSIANS) : NULL;
}

const struct srcfind_catalogue *srcfind_catalogue_islands(struct srcfind_catalogue *catalogue) {
    return *catalogue->table.of->options.at ? NULL : catalogue_table(catalogue, TABLE_OF_ISLANDS);
}

const struct srcfind_catalogue *srcfind_catalogue_covariance(struct srcfind_catalogue *catalogue) {
    const struct options *o = &catalogue->table.of->options;
    const bool is_fitted = *o->at && options_fit(o) && !o->at_fixed;
    return is_fitted ? catalogue_table(catalogue, TABLE_OF_COVARIANCES) : NULL;
}

const struct srcfind_catalogue *
srcfind_catalogue_completeness(struct srcfind_catalogue *catalogue) {
    return options_inject(&catalogue->table.of->options)
               ? catalogue_table(catalogue, TABLE_OF_COMPLETENESS)
               : NULL;
}

const struct srcfind_catalogue *srcfind_catalogue_reliability(struct srcfind_catalogue *catalogue) {
    return catalogue->table.of->options.negative ? catalogue_table(catalogue, TABLE_OF_RELIABILITY)
                                                 : NULL;
}

const struct srcfind_catalogue *srcfind_catalogue_planes(struct srcfind_catalogue *catalogue) {
    return catalogue->table.of->options.measure_in.n > 0
               ? catalogue_table(catalogue, TABLE_OF_PLANES)
               : NULL;
}

enum srcfind_status srcfind_catalogue_select(struct srcfind *finder,
                                             struct srcfind_catalogue *catalogue,
                                             const char *columns,
                                             const struct srcfind_catalogue **table) {
    struct column_list *list = malloc(sizeof *list);
    enum srcfind_status status = list ? column_list_read(columns, list, &finder->error)
                                      : error_memory(&finder->error, "choosing columns");
    if (status == SRCFIND_OK)
        status = catalogue_choose(catalogue, list, table, &finder->error);
    free(list);
    return status;
}

const struct srcfind_column *srcfind_catalogue_column(const struct srcfind_catalogue *catalogue,
                                                      int i) {
    return i >= 0 && i < catalogue->table.columns.n ? &catalogue->table.columns.column[i].shown
                                                    : NULL;
}

/* Copies a cell to element `at` of an array. */
static void copy_cell(const struct rows *rows, const struct column *column, void *cells,
                      int64_t at) {
    const union cell_value value = cell_get(rows, 0, column);
    switch (column->shown.kind) {
    case SRCFIND_INTEGER:
        ((int64_t *)cells)[at] = value.integer;
        break;
    case SRCFIND_REAL:
        ((double *)cells)[at] = isfinite(value.real) ? value.real : (double)NAN;
        break;
    case SRCFIND_STRING:
        strncpy((char *)cells + at * SRCFIND_CELL, value.text, SRCFIND_CELL - 1);
        ((char *)cells)[at * SRCFIND_CELL + SRCFIND_CELL - 1] = '\0';
        break;
    }
}

void srcfind_catalogue_cells(const struct srcfind_catalogue *catalogue, int i, void *cells) {
    const struct table *table = &catalogue->table;
    union stored_row room;
    const struct row_image *image;
    struct rows rows;
    for (int64_t k = 0; k < table->n_rows; k++) {
        table_read(table, k, 1, &room, &image, &rows);
        copy_cell(&rows, &table->columns.column[i], cells, k);
    }
}

const char *srcfind_catalogue_row_image(const struct srcfind_catalogue *planes, int64_t i) {
    static const struct row_image none;
    union stored_row room;
    const struct row_image *image = &none;
    struct rows rows;
    table_read(&planes->table, i, 1, &room, &image, &rows);
    return image->path ? image->path : "";
}

const struct srcfind_image *srcfind_catalogue_image(const struct srcfind_catalogue *catalogue) {
    return &catalogue->table.of->image;
}

const struct srcfind_background *
srcfind_catalogue_background(const struct srcfind_catalogue *catalogue) {
    return &catalogue->table.of->background;
}

const struct srcfind_correlation *
srcfind_catalogue_correlation(const struct srcfind_catalogue *catalogue) {
    return &catalogue->table.of->correlation;
}

const struct srcfind_quality *srcfind_catalogue_quality(const struct srcfind_catalogue *catalogue) {
    return &catalogue->table.of->quality;
}

const char *srcfind_catalogue_note(const struct srcfind_catalogue *catalogue, int i) {
    return result_note(catalogue->table.of, i);
}

const struct srcfind_run *srcfind_catalogue_run(const struct srcfind_catalogue *catalogue) {
    return &catalogue->table.of->run;
}

const struct srcfind_timings *srcfind_catalogue_timings(const struct srcfind_catalogue *catalogue) {
    return &catalogue->table.of->timings;
}

/* --- writing --- */

const struct srcfind_format *srcfind_format(int i) {
    return i >= 0 && i < n_writers ? &writers[i]->format : NULL;
}

const struct srcfind_format *srcfind_format_of(const char *path) {
    for (int i = 0; i < n_writers; i++)
        for (const char *const *suffix = writers[i]->format.suffixes; *suffix; suffix++)
            if (path_ends_with(path, *suffix))
                return &writers[i]->format;
    return NULL;
}

/* The writer of a format; NULL if there is none, or if the format has fixed columns and the table
 * is not one of sources or Gaussians. */
static const struct writer *find_writer(enum table_kind kind, const char *format,
                                        struct error *error) {
    const struct writer *writer = writer_named(format);
    if (!writer)
        error_set(error, SRCFIND_ERROR_OPTIONS, "format: there is no format %.200s", format);
    if (!writer || writer->is_table || kind == TABLE_OF_SOURCES || kind == TABLE_OF_GAUSSIANS)
        return writer;
    if (kind == TABLE_OF_CHOSEN)
        error_set(error, SRCFIND_ERROR_OPTIONS,
                  "columns: %s has columns of its own: choose csv, json, votable, fits or ecsv",
                  writer->format.name);
    else
        error_set(error, SRCFIND_ERROR_OPTIONS,
                  "format: rows of %s cannot be written as %s: choose csv, ecsv, json, votable or "
                  "fits",
                  kind == TABLE_OF_PLANES        ? "planes"
                  : kind == TABLE_OF_ISLANDS     ? "islands"
                  : kind == TABLE_OF_COVARIANCES ? "covariances"
                                                 : "bins",
                  writer->format.name);
    return NULL;
}

enum srcfind_status srcfind_catalogue_write(struct srcfind *finder,
                                            const struct srcfind_catalogue *catalogue,
                                            const char *format, FILE *stream) {
    const struct writer *writer = find_writer(catalogue->table.kind, format, &finder->error);
    const char *name = stream == stdout ? "standard output" : "stream";
    return writer ? save_stream(&catalogue->table, writer, finder->threads, stream, name,
                                &finder->error)
                  : SRCFIND_ERROR_OPTIONS;
}

enum srcfind_status srcfind_catalogue_save(struct srcfind *finder,
                                           const struct srcfind_catalogue *catalogue,
                                           const char *format, const char *path) {
    const struct writer *writer = find_writer(catalogue->table.kind, format, &finder->error);
    if (!writer)
        return SRCFIND_ERROR_OPTIONS;
    enum srcfind_status status = save_check(path, "catalogue", &finder->error);
    if (status == SRCFIND_OK)
        status = save_check_form(writer, path, &finder->error);
    return status == SRCFIND_OK
               ? save_file(&catalogue->table, writer, finder->threads, path, &finder->error)
               : status;
}
