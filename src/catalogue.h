/* A catalogue as a file: its columns, and the writers of CSV and JSON. Knows nothing of pixels. */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include "error.h"

enum { CELL_TEXT = 64 };

int catalogue_columns(void);

/* Column i of a catalogue. Its name and unit belong to the catalogue. */
struct srcfind_column catalogue_column(const struct srcfind_catalogue *catalogue, int i);

/* Writes a cell as it stands in a CSV file, empty if it does not apply, and returns its length.
 * text has room for CELL_TEXT. No cell needs quotes in CSV. */
int catalogue_cell(const struct srcfind_source *source, int i, char *text);

/* Whether two rows have the same number in column i, to the bit. */
bool catalogue_same(const struct srcfind_source *a, const struct srcfind_source *b, int i);

/* Whether the cells of column i are text, and not numbers. */
bool catalogue_is_text(int i);

/* Both return false where the stream fails. */
bool csv_write(const struct srcfind_catalogue *catalogue, FILE *stream);
bool json_write(const struct srcfind_catalogue *catalogue, FILE *stream);

#endif
