/* Reads the table of a file. Formats are CSV, also with tabs, semicolons, `|` or blanks in place of
 * commas, ECSV (astropy's), JSON (of srcfind alone), FITS (binary and ASCII tables) and VOTable;
 * all may be gzipped. The file is not trusted. */
#ifndef READ_TABLE_H
#define READ_TABLE_H

#include "input/table_file.h"

/* Reads a file, whose suffix, in letters of any case, tells the format. A column of a FITS file is
 * left out if its cells are not one number or one text. wish may be NULL: then the first binary
 * table with rows is read. Clear the table also after an error. */
enum srcfind_status read_table(const char *path, const struct table_wish *wish,
                               struct table_file *table, struct error *error);

/* Reads a file in blocks, one at least, so that memory does not grow with the number of rows: CSV
 * and ECSV that are not gzipped, and FITS; other files are one block. `table` gets the metadata,
 * and may have the rows of the last block. */
enum srcfind_status read_table_blocks(const char *path, const struct table_sink *sink,
                                      struct table_file *table, struct error *error);

#endif
