/* Rows of a catalogue as bytes: each cell as a big-endian number of 64 bits, or as text. */
#ifndef ROW_BYTES_H
#define ROW_BYTES_H

#include "output/table.h"

/* The most bytes of a row, some of them for longer texts, without the path of its image. */
enum { ROW_MOST_BYTES = 8 * MOST_COLUMNS + 64 };

/* Whether a cell has no value. */
bool row_cell_is_empty(const struct rows *rows, int64_t row, const struct column *column);

/* Writes the bytes of a row: widths[i] for cell i, 8 for a number, and for a text at least the
 * width of its column. Returns their number. Empty reals are NaN, empty integers SRCFIND_EMPTY.
 * Texts are filled up with zeros; bytes that are not ASCII become `?`. */
size_t row_bytes_put(const struct table *table, const struct rows *rows, int64_t row,
                     const size_t *widths, unsigned char *to);

/* Sets the widths to the least ones. Returns their sum. */
size_t row_bytes_widths(const struct table *table, size_t widths[MOST_COLUMNS]);

#endif
