#include "fits/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fits/stored.h"

enum { MOST_COLUMNS = 999 };

bool table_open(struct table *table, struct fits_file *file, const struct hdu *hdu) {
    const struct header *header = &hdu->header;
    int64_t bitpix = 0, n_axes = 0, pcount = 0;
    struct error ignored;
    bool reached;
    *table = (struct table){.file = file, .header = header, .data = hdu->data};
    header_integer(header, "BITPIX", &bitpix);
    header_integer(header, "NAXIS", &n_axes);
    header_integer(header, "PCOUNT", &pcount);
    if (bitpix != 8 || n_axes != 2 || pcount < 0 ||
        !header_integer(header, "NAXIS1", &table->row_bytes) ||
        !header_integer(header, "NAXIS2", &table->n_rows))
        return false;
    /* that these products and sums can be is known since the HDU was found */
    const int64_t rows = table->row_bytes * table->n_rows, end = rows + pcount;
    int64_t heap = rows;
    header_integer(header, "THEAP", &heap);
    if (heap < rows || heap > end || end > INT64_MAX / 2 ||
        fits_file_reach(file, hdu->data + end, &reached, &ignored) != SRCFIND_OK || !reached)
        return false;
    table->heap = hdu->data + heap;
    table->heap_bytes = end - heap;
    return true;
}

int table_element_bytes(char type) {
    static const char types[] = "LBIJKAEDCMPQ";
    static const int bytes[] = {1, 1, 2, 4, 8, 1, 4, 8, 8, 16, 8, 16};
    const char *at = type ? strchr(types, type) : NULL;
    return at ? bytes[at - types] : 0;
}

/* Reads TFORMn: `rT`, or `rPt(max)`. Returns the column's bytes in a row; -1 where it has no sense.
 */
static int64_t read_form(const struct header *header, int number, struct table_column *column) {
    char keyword[16], form[SRCFIND_TEXT], *type;
    snprintf(keyword, sizeof keyword, "TFORM%d", number);
    if (!header_text(header, keyword, form, sizeof form))
        return -1;
    column->count = isdigit((unsigned char)*form) ? strtoll(form, &type, 10) : 1;
    if (!isdigit((unsigned char)*form))
        type = form;
    column->type = (char)toupper((unsigned char)*type);
    column->element = *type ? (char)toupper((unsigned char)type[1]) : '\0';
    if (column->count < 0 || column->count > INT64_MAX / 16)
        return -1;
    if (column->type == 'X')
        return (column->count + 7) / 8;
    const int bytes = table_element_bytes(column->type);
    return bytes > 0 ? column->count * bytes : -1;
}

bool table_find(const struct table *table, const char *name, struct table_column *column) {
    int64_t n_columns = 0, offset = 0;
    header_integer(table->header, "TFIELDS", &n_columns);
    for (int i = 1; i <= n_columns && i <= MOST_COLUMNS; i++) {
        char keyword[16], type[SRCFIND_TEXT] = "";
        const int64_t bytes = read_form(table->header, i, column);
        if (bytes < 0 || bytes > table->row_bytes - offset)
            return false;
        snprintf(keyword, sizeof keyword, "TTYPE%d", i);
        header_text(table->header, keyword, type, sizeof type);
        column->number = i;
        column->offset = offset;
        if (strcasecmp(type, name) == 0)
            return column->count > 0;
        offset += bytes;
    }
    return false;
}

bool table_number(const struct table_column *column, const unsigned char *row, double *value) {
    static const char types[] = "BIJKED";
    static const int bitpix[] = {8, 16, 32, 64, -32, -64};
    const char *at = strchr(types, column->type);
    if (!at)
        return false;
    const int kind = bitpix[at - types];
    const unsigned char *bytes = row + column->offset;
    *value = kind > 0 ? (double)load_integer(bytes, kind, 1) : load_real(bytes, kind, 1);
    return isfinite(*value);
}

bool table_array(const struct table *table, const struct table_column *column,
                 const unsigned char *row, int64_t *count, int64_t *offset) {
    const unsigned char *bytes = row + column->offset;
    const int size = table_element_bytes(column->element);
    const int bitpix = column->type == 'P' ? 32 : 64;
    if ((column->type != 'P' && column->type != 'Q') || size == 0)
        return false;
    *count = load_integer(bytes, bitpix, 1);
    *offset = load_integer(bytes + bitpix / 8, bitpix, 1);
    if (*count < 0 || *offset < 0 || *offset > table->heap_bytes ||
        *count > (table->heap_bytes - *offset) / size)
        return false;
    *offset += table->heap;
    return true;
}
