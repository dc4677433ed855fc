#include "input/fits/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "input/fits/stored.h"

/* The number n of a card TTYPEn or TFORMn; 0 for other cards. */
static int column_of(const char *card, const char *stem) {
    enum { STEM = 5, KEYWORD = 8 };
    int number = 0;
    if (memcmp(card, stem, STEM) != 0)
        return 0;
    for (int i = STEM; i < KEYWORD && isdigit((unsigned char)card[i]); i++)
        number = 10 * number + card[i] - '0';
    return number;
}

/* Finds the cards of all columns in one pass, since a header may have many cards. */
static void list_columns(struct table *table) {
    int64_t n_columns = 0;
    header_integer(table->header, "TFIELDS", &n_columns);
    table->n_columns = n_columns < 0                    ? 0
                       : n_columns > TABLE_MOST_COLUMNS ? TABLE_MOST_COLUMNS
                                                        : (int)n_columns;
    for (int64_t i = 0; i < table->header->n_cards; i++) {
        const char *card = table->header->cards + CARD * i;
        const int name = column_of(card, "TTYPE"), form = column_of(card, "TFORM");
        if (name > 0 && !table->names[name])
            table->names[name] = card;
        if (form > 0 && !table->forms[form])
            table->forms[form] = card;
    }
}

/* Reads the text of a card of a column; false if card is NULL or has no text. */
static bool column_text(const char *card, const char *stem, int number, char *text, size_t size) {
    const struct header one = {(char *)card, 1};
    return card && header_text(&one, header_keyword(stem, number).text, text, size);
}

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
    /* hdu_next has checked that these products and sums do not overflow */
    const int64_t rows = table->row_bytes * table->n_rows, end = rows + pcount;
    int64_t heap = rows;
    header_integer(header, "THEAP", &heap);
    if (heap < rows || heap > end || end > INT64_MAX / 2 ||
        fits_file_reach(file, hdu->data + end, &reached, &ignored) != SRCFIND_OK || !reached)
        return false;
    table->heap = hdu->data + heap;
    table->heap_bytes = end - heap;
    list_columns(table);
    return true;
}

int table_element_bytes(char type) {
    static const char types[] = "LBIJKAEDCMPQ";
    static const int bytes[] = {1, 1, 2, 4, 8, 1, 4, 8, 8, 16, 8, 16};
    const char *at = type ? strchr(types, type) : NULL;
    return at ? bytes[at - types] : 0;
}

bool table_form(const struct table *table, int number, char *text) {
    return column_text(table->forms[number], "TFORM", number, text, SRCFIND_TEXT);
}

/* Reads TFORMn: `rT`, or `rPt(max)`. Returns the size in bytes of the column in a row; -1 if TFORMn
 * is missing or invalid. */
static int64_t read_form(const struct table *table, int number, struct table_column *column) {
    char form[SRCFIND_TEXT], *type = form;
    if (!table_form(table, number, form))
        return -1;
    column->count = isdigit((unsigned char)*form) ? strtoll(form, &type, 10) : 1;
    column->type = ascii_upper(*type);
    column->element = *type ? ascii_upper(type[1]) : '\0';
    if (column->count < 0 || column->count > INT64_MAX / 16)
        return -1;
    if (column->type == 'X')
        return (column->count + 7) / 8;
    const int bytes = table_element_bytes(column->type);
    return bytes > 0 ? column->count * bytes : -1;
}

bool table_next(const struct table *table, struct table_column *column) {
    struct table_column next = {.number = column->number + 1,
                                .offset = column->offset + column->bytes};
    if (next.number > table->n_columns)
        return false;
    next.bytes = read_form(table, next.number, &next);
    if (next.bytes < 0 || next.bytes > table->row_bytes - next.offset)
        return false;
    *column = next;
    return true;
}

void table_name(const struct table *table, int number, char *text) {
    text[0] = '\0';
    column_text(table->names[number], "TTYPE", number, text, SRCFIND_TEXT);
}

bool table_find(const struct table *table, const char *name, struct table_column *column) {
    char text[SRCFIND_TEXT];
    *column = (struct table_column){0};
    while (table_next(table, column)) {
        table_name(table, column->number, text);
        if (ascii_same(text, name))
            return column->count > 0;
    }
    return false;
}

int64_t table_block_rows(const struct table *table) {
    enum { BLOCK_BYTES = 1 << 20 };
    return table->row_bytes < BLOCK_BYTES ? BLOCK_BYTES / table->row_bytes : 1;
}

enum srcfind_status table_read_rows(const struct table *table, table_take *take, void *context,
                                    struct error *error) {
    const int64_t row_bytes = table->row_bytes, most = table_block_rows(table);
    unsigned char *block = malloc((size_t)(most * row_bytes));
    enum srcfind_status status = block ? SRCFIND_OK : error_memory(error, "reading a catalogue");
    for (int64_t first = 0; status == SRCFIND_OK && first < table->n_rows; first += most) {
        const int64_t n = table->n_rows - first < most ? table->n_rows - first : most;
        status = fits_file_read(table->file, block, n * row_bytes, table->data + first * row_bytes,
                                error);
        if (status == SRCFIND_OK)
            status = take(context, block, first, n, error);
    }
    free(block);
    return status;
}

int table_bitpix(char type) {
    static const char types[] = "BIJKED";
    static const int bitpix[] = {8, 16, 32, 64, -32, -64};
    const char *at = type ? strchr(types, type) : NULL;
    return at ? bitpix[at - types] : 0;
}

bool table_integer(const struct table_column *column, const unsigned char *row, int64_t *value) {
    const int bitpix = table_bitpix(column->type);
    if (bitpix > 0)
        *value = load_integer(row + column->offset, bitpix, 1);
    return bitpix > 0;
}

bool table_number(const struct table_column *column, const unsigned char *row, double *value) {
    const int bitpix = table_bitpix(column->type);
    int64_t integer;
    if (bitpix < 0)
        *value = load_real(row + column->offset, bitpix, 1);
    else if (table_integer(column, row, &integer))
        *value = (double)integer;
    else
        return false;
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
