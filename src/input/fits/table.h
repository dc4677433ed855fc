/* Binary tables, by the FITS standard 7.3: where the columns of a row are, and arrays of variable
 * length in the heap. Everything a header or a descriptor says is checked against the table's size.
 */
#ifndef TABLE_H
#define TABLE_H

#include "input/fits/hdu.h"

enum { TABLE_MOST_COLUMNS = 999 };

struct table {
    const struct fits_file *file;
    const struct header *header;
    int64_t data; /* the byte of the first row in the file */
    int64_t n_rows, row_bytes;
    int64_t heap, heap_bytes;
    int n_columns;
    const char *names[TABLE_MOST_COLUMNS + 1],
        *forms[TABLE_MOST_COLUMNS + 1]; /* cards, by number */
};

struct table_column {
    int number;            /* from 1, as in TTYPE1 */
    int64_t offset, count; /* in a row: bytes from its beginning, and elements */
    char type;             /* as in TFORM: B, I, J, K, E, D, ..., P or Q */
    char element;          /* of arrays of variable length: the type of what is in the heap */
};

/* A table in the file, all of whose bytes are there; false where the HDU is none. File and HDU must
 * last as long. */
bool table_open(struct table *table, struct fits_file *file, const struct hdu *hdu);

/* A column by its name, in upper or lower case; false where there is none, or it makes no sense. */
bool table_find(const struct table *table, const char *name, struct table_column *column);

/* Bytes of an element of a type; 0 where there is none of that name. */
int table_element_bytes(char type);

/* BITPIX of images with elements of a type; 0 where the type is no number. */
int table_bitpix(char type);

/* The first number of a column in a row, of which `row` are the bytes; false where it is none. */
bool table_number(const struct table_column *column, const unsigned char *row, double *value);

/* The same where it must be an integer. */
bool table_integer(const struct table_column *column, const unsigned char *row, int64_t *value);

/* Where an array of variable length is, as an offset in the file; false where it is not all in the
 * heap. */
bool table_array(const struct table *table, const struct table_column *column,
                 const unsigned char *row, int64_t *count, int64_t *offset);

#endif
