/* A catalogue as a file: its columns, and the writers of CSV and JSON. Knows nothing of pixels. */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include "common/error.h"

enum { CELL_TEXT = 64, MOST_COLUMNS = 64 };

/* A row as it stands in a CSV file. Cell i, with the comma or the line's end behind it, is
 * text[start[i]] ... text[start[i + 1] - 1]. */
struct catalogue_line {
    size_t start[MOST_COLUMNS + 1];
    char text[MOST_COLUMNS * (CELL_TEXT + 1)];
};

int catalogue_columns(void);

/* Column i of a catalogue. Its name and unit belong to the catalogue. */
struct srcfind_column catalogue_column(const struct srcfind_catalogue *catalogue, int i);

/* Writes a cell as it stands in a CSV file, empty if it does not apply, and returns its length.
 * text has room for CELL_TEXT. No cell needs quotes in CSV. */
int catalogue_cell(const struct srcfind_source *source, int i, char *text);

/* Writes the line of a row, and returns its length; before is the line of row[-1], or NULL. */
size_t catalogue_write_line(const struct srcfind_source *row, const struct catalogue_line *before,
                            struct catalogue_line *line);

/* Whether the cells of column i are text, and not numbers. */
bool catalogue_is_text(int i);

/* Both return false where the stream fails. */
bool csv_write(const struct srcfind_catalogue *catalogue, FILE *stream);
bool json_write(const struct srcfind_catalogue *catalogue, FILE *stream);

#endif
