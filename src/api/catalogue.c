/* The public calls for catalogues. */
#include "output/catalogue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/finder.h"
#include "common/path.h"
#include "input/image.h"
#include "output/save.h"
#include "output/selected.h"

void srcfind_catalogue_destroy(struct srcfind_catalogue *catalogue) {
    if (!catalogue)
        return;
    catalogue_clear(catalogue);
    free(catalogue);
}

int64_t srcfind_catalogue_size(const struct srcfind_catalogue *catalogue) {
    return catalogue->n_sources;
}

int64_t srcfind_catalogue_negatives(const struct srcfind_catalogue *catalogue) {
    return catalogue->n_negative;
}

const struct srcfind_source *srcfind_catalogue_source(const struct srcfind_catalogue *catalogue,
                                                      int64_t i) {
    return &catalogue->sources[i];
}

const struct srcfind_catalogue *srcfind_catalogue_gaussians(struct srcfind_catalogue *catalogue) {
    if (!options_fit(&catalogue->options) || *catalogue->options.at)
        return NULL;
    return catalogue->gaussian_rows ? catalogue->gaussian_rows : catalogue_gaussians(catalogue);
}

const struct srcfind_catalogue *
srcfind_catalogue_completeness(struct srcfind_catalogue *catalogue) {
    return catalogue->options.completeness > 0 ? catalogue_bins(catalogue, BINS_COMPLETENESS)
                                               : NULL;
}

const struct srcfind_catalogue *srcfind_catalogue_reliability(struct srcfind_catalogue *catalogue) {
    return catalogue->options.negative ? catalogue_bins(catalogue, BINS_RELIABILITY) : NULL;
}

const struct srcfind_catalogue *srcfind_catalogue_planes(struct srcfind_catalogue *catalogue) {
    return catalogue->options.measure_in.n > 0 ? catalogue_planes(catalogue) : NULL;
}

enum srcfind_status srcfind_catalogue_select(struct srcfind *finder,
                                             struct srcfind_catalogue *catalogue,
                                             const char *columns,
                                             const struct srcfind_catalogue **table) {
    struct column_list *list = malloc(sizeof *list);
    struct selected *selected = NULL;
    enum srcfind_status status = list ? column_list_read(columns, list, &finder->error)
                                      : error_memory(&finder->error, "choosing columns");
    if (status == SRCFIND_OK)
        status = selected_make(catalogue, list, &selected, &finder->error);
    if (status == SRCFIND_OK) {
        selected_free(catalogue->selected);
        catalogue->selected = selected;
        *table = selected_catalogue(selected);
    } else {
        selected_free(selected);
    }
    free(list);
    return status;
}

const struct srcfind_column *srcfind_catalogue_column(const struct srcfind_catalogue *catalogue,
                                                      int i) {
    return i >= 0 && i < catalogue->n_columns ? &catalogue->columns[i].shown : NULL;
}

/* Copies a cell to element `at` of an array. */
static void copy_cell(const struct rows *rows, int64_t at, const struct column *column,
                      void *cells) {
    const union cell_value value = catalogue_value(rows, at, column);
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

/* The same for rows of tables of planes and bins, which are put together one by one. */
static void copy_stored_cells(const struct srcfind_catalogue *table, const struct column *column,
                              char *cells) {
    const size_t size = column->shown.kind == SRCFIND_STRING ? SRCFIND_CELL : 8;
    union stored_row row;
    const struct row_image *image;
    for (int64_t k = 0; k < table->n_sources; k++) {
        table->store->read(table->store->context, k, 1, &row, &image);
        const struct rows rows = {
            .first = &row, .row_bytes = table->store->row_bytes, .images = &image, .n = 1};
        copy_cell(&rows, 0, column, cells + (size_t)k * size);
    }
}

void srcfind_catalogue_cells(const struct srcfind_catalogue *catalogue, int i, void *cells) {
    const struct rows rows = rows_of_sources(catalogue->sources, catalogue->n_sources);
    if (catalogue->store) {
        copy_stored_cells(catalogue, &catalogue->columns[i], cells);
        return;
    }
    for (int64_t k = 0; k < rows.n; k++)
        copy_cell(&rows, k, &catalogue->columns[i], cells);
}

const char *srcfind_catalogue_row_image(const struct srcfind_catalogue *planes, int64_t i) {
    union stored_row row;
    const struct row_image *image;
    if (!planes->store)
        return "";
    planes->store->read(planes->store->context, i, 1, &row, &image);
    return image->path ? image->path : "";
}

const struct srcfind_image *srcfind_catalogue_image(const struct srcfind_catalogue *catalogue) {
    return &catalogue->image;
}

const struct srcfind_background *
srcfind_catalogue_background(const struct srcfind_catalogue *catalogue) {
    return &catalogue->background;
}

const struct srcfind_quality *srcfind_catalogue_quality(const struct srcfind_catalogue *catalogue) {
    return &catalogue->quality;
}

const char *srcfind_catalogue_note(const struct srcfind_catalogue *catalogue, int i) {
    return catalogue_note(catalogue, i);
}

const struct srcfind_run *srcfind_catalogue_run(const struct srcfind_catalogue *catalogue) {
    return &catalogue->run;
}

const struct srcfind_timings *srcfind_catalogue_timings(const struct srcfind_catalogue *catalogue) {
    return &catalogue->timings;
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

/* The writer of a format; NULL where there is none, or it has columns of its own, and so neither
 * rows of planes or bins nor chosen columns. */
static const struct writer *find_writer(const struct srcfind_catalogue *catalogue,
                                        const char *format, struct error *error) {
    const struct writer *writer = writer_named(format);
    if (!writer) {
        error_set(error, SRCFIND_ERROR_OPTIONS, "format: there is no format %.200s", format);
    } else if (catalogue->store && !writer->is_table) {
        error_set(error, SRCFIND_ERROR_OPTIONS,
                  "format: rows of %s cannot be written as %s: choose csv, ecsv, json, votable or "
                  "fits",
                  strcmp(catalogue_kind(catalogue), "planes") == 0 ? "planes" : "bins",
                  writer->format.name);
        return NULL;
    } else if (catalogue->has_chosen_columns && !writer->is_table) {
        error_set(error, SRCFIND_ERROR_OPTIONS,
                  "columns: %s has columns of its own: choose csv, json, votable, fits or ecsv",
                  writer->format.name);
        return NULL;
    }
    return writer;
}

enum srcfind_status srcfind_catalogue_write(struct srcfind *finder,
                                            const struct srcfind_catalogue *catalogue,
                                            const char *format, FILE *stream) {
    const struct writer *writer = find_writer(catalogue, format, &finder->error);
    const char *name = stream == stdout ? "standard output" : "stream";
    return writer ? save_stream(catalogue, writer, finder->threads, stream, name, &finder->error)
                  : SRCFIND_ERROR_OPTIONS;
}

enum srcfind_status srcfind_catalogue_save(struct srcfind *finder,
                                           const struct srcfind_catalogue *catalogue,
                                           const char *format, const char *path) {
    const struct writer *writer = find_writer(catalogue, format, &finder->error);
    if (!writer)
        return SRCFIND_ERROR_OPTIONS;
    enum srcfind_status status = save_check(path, "catalogue", &finder->error);
    if (status == SRCFIND_OK)
        status = save_check_form(writer, path, &finder->error);
    return status == SRCFIND_OK
               ? save_file(catalogue, writer, finder->threads, path, &finder->error)
               : status;
}
