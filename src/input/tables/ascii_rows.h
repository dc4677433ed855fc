/* The columns and rows of an ASCII table in a FITS file. */
#ifndef ASCII_ROWS_H
#define ASCII_ROWS_H

#include "input/fits/ascii_table.h"
#include "input/table_file.h"

struct ascii_field {
    struct ascii_column at;
    double scale, zero; /* TSCAL, TZERO */
    bool has_null;
    char null[SRCFIND_TEXT]; /* TNULL: the text of empty cells */
};

struct ascii_columns {
    const struct table *table;
    int n;
    struct ascii_field field[TABLE_MOST_COLUMNS];
};

/* Lists the columns of an open table. Returns the number of the first one that does not fit into
 * the rows, or has no valid TFORM and TBCOL; 0 if all are valid. */
int ascii_columns_list(const struct table *table, struct ascii_columns *columns);

/* Whether the columns have more characters than a row, so that they overlap, and their cells take
 * more memory than the size of the file justifies. */
bool ascii_columns_overlap(const struct ascii_columns *columns);

/* Reads the rows to a table, whose columns have names and nothing else. An empty cell has blanks
 * alone, or the text of TNULL. A column of numbers where a cell is no number has texts. */
enum srcfind_status ascii_rows_read(const struct ascii_columns *columns, struct table_file *into,
                                    struct error *error);

#endif
