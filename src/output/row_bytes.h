/* Rows of a catalogue as bytes: each cell as a big-endian number of 64 bits, or as text. */
#ifndef ROW_BYTES_H
#define ROW_BYTES_H

#include "output/catalogue.h"

/* The longest text of a cell; and the most bytes of a row, with some for longer texts. */
enum {
    ROW_TEXT = sizeof((struct srcfind_source *)0)->name - 1,
    ROW_MOST_BYTES = 8 * MOST_COLUMNS + 64
};

/* Whether a cell has no value. */
bool row_cell_is_empty(const struct srcfind_source *source, int i);

/* The number of bytes of a row, if a text takes text_length. */
size_t row_bytes_count(size_t text_length);

/* Writes the bytes of a row, and returns their number. Empty numbers are NaN; texts are filled up
 * with zeros. */
size_t row_bytes_put(const struct srcfind_source *source, size_t text_length, unsigned char *to);

#endif
