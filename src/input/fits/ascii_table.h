/* ASCII tables, by the FITS standard 7.2: where the columns of a row are, and the numbers in their
 * fields. */
#ifndef ASCII_TABLE_H
#define ASCII_TABLE_H

#include "common/parse_number.h"
#include "input/fits/table.h"

struct ascii_column {
    int number;     /* from 1, as in TTYPE1 */
    int64_t offset; /* bytes from the beginning of a row */
    int64_t width;
    char type;    /* as in TFORM: A, I, F, E or D */
    int decimals; /* behind the point that a field of F, E or D lacks */
};

/* Reads TFORMn and TBCOLn of the column `number` of an open table. False if they are missing or
 * invalid, or do not fit into a row. */
bool ascii_table_column(const struct table *table, int number, struct ascii_column *column);

/* Reads the number in a field of `length` characters, as CFITSIO does: blanks do not count, also
 * between digits, and exponents begin with E or D. A number of another kind than I is real. */
struct number ascii_table_number(const struct ascii_column *column, const char *field,
                                 size_t length);

#endif
