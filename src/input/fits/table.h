/* Binary tables, by the FITS standard 7.3: the columns of a row, and arrays of variable length in
 * the heap. Of ASCII tables, whose columns are in ascii_table.h, rows, names and forms. Sizes and
 * offsets in headers and descriptors are checked against the table's size. */
#ifndef TABLE_H
#define TABLE_H

#include "input/fits/hdu.h"

enum { TABLE_MOST_COLUMNS = 999 };

struct table {
    const struct fits_file *file;
    const struct header *header;
    int64_t data; /* offset of the first row in the file */
    int64_t n_rows, row_bytes;
    int64_t heap, heap_bytes; /* offset of the heap in the file, and its size */
    int n_columns;
    const char *names[TABLE_MOST_COLUMNS + 1],
        *forms[TABLE_MOST_COLUMNS + 1]; /* cards TTYPEn and TFORMn, by n; NULL if missing */
};

struct table_column {
    int number;            /* from 1, as in TTYPE1 */
    int64_t offset, count; /* bytes from the beginning of a row; elements in a row */
    int64_t bytes;         /* in a row */
    char type;             /* as in TFORM: B, I, J, K, E, D, ..., P or Q */
    char element;          /* of P and Q: the type of the elements in the heap */
};

/* Opens the table of an HDU. False if the HDU is not a table, or the file ends before the table
 * does. File and HDU must exist as long as the table is used. */
bool table_open(struct table *table, struct fits_file *file, const struct hdu *hdu);

/* Goes to the next column, or to the first if *column is {0}. False after the last one, or if the
 * TFORM of the next one is invalid: then column->number is not n_columns. */
bool table_next(const struct table *table, struct table_column *column);

/* Copies the name of a column, "" if it has none, to a text of SRCFIND_TEXT characters. */
void table_name(const struct table *table, int number, char *text);

/* Reads TFORMn. False if it is missing or no text. */
bool table_form(const struct table *table, int number, char *text);

/* Finds a column by its name, in upper or lower case. False if there is no such column, or it has
 * no elements, or the TFORM of it or of a column before it is invalid. */
bool table_find(const struct table *table, const char *name, struct table_column *column);

/* Takes n rows, from `first` on. */
typedef enum srcfind_status table_take(void *context, const unsigned char *rows, int64_t first,
                                       int64_t n, struct error *error);

/* The rows of a block, at most. */
int64_t table_block_rows(const struct table *table);

/* Reads all rows in blocks. */
enum srcfind_status table_read_rows(const struct table *table, table_take *take, void *context,
                                    struct error *error);

/* The size in bytes of an element of a type; 0 for an unknown type. */
int table_element_bytes(char type);

/* The BITPIX that corresponds to a type; 0 if the type is not numeric. */
int table_bitpix(char type);

/* Reads the first number of a column from a row's bytes. False if it is not a finite number. */
bool table_number(const struct table_column *column, const unsigned char *row, double *value);

/* Reads a cell of a column of integers; false for other columns. */
bool table_integer(const struct table_column *column, const unsigned char *row, int64_t *value);

/* Reads the descriptor of an array of variable length: count is its number of elements, offset its
 * offset in the file. False if the array is not inside the heap. */
bool table_array(const struct table *table, const struct table_column *column,
                 const unsigned char *row, int64_t *count, int64_t *offset);

#endif
