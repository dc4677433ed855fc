/* The order of the rows of a catalogue, which the option sort chooses. */
#ifndef ROW_ORDER_H
#define ROW_ORDER_H

#include "options/options.h"

/* By this number rows are in rising order; rows whose number is NAN are the last. sort: enum
 * sort_choice, given. */
double row_order_key(const struct srcfind_source *row, int sort);

/* Makes the order of n rows: row k of the catalogue is rows[order[k]]. Rows that are equal stay as
 * they are. The caller frees *order, which is NULL if sort is not given. False where memory ran
 * out. */
bool row_order_make(const struct srcfind_source *rows, int64_t n, int sort, int64_t **order);

/* Compares two keys, for qsort. */
int row_order_compare(double a, double b);

#endif
