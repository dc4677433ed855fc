/* The columns and rows of a binary table in a FITS file. */
#ifndef BINARY_ROWS_H
#define BINARY_ROWS_H

#include "input/fits/table.h"
#include "input/table_file.h"

/* A column whose cells are one number or text, and how its stored numbers become its values. */
struct binary_column {
    struct table_column at;
    double scale, zero; /* TSCAL, TZERO */
    bool has_null;
    int64_t null; /* TNULL: the stored integer of empty cells */
    int64_t n_bytes, bytes_capacity;
};

/* The columns that can be read. */
struct binary_columns {
    const struct table *table;
    int n;
    struct binary_column column[TABLE_MOST_COLUMNS];
};

/* Lists the columns of an open table. Returns the number of the first one that does not fit into
 * the rows, or has no valid TFORM; 0 if all are valid. */
int binary_columns_list(const struct table *table, struct binary_columns *columns);

/* Reads the rows to a table, whose columns have names; with a sink, hands them over in blocks, one
 * at least, as read_table_blocks does. */
enum srcfind_status binary_rows_read(struct binary_columns *columns, const struct table_sink *sink,
                                     struct table_file *into, struct error *error);

#endif
