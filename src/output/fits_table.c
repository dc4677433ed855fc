/* The format FITS: a primary HDU without data, and a binary table (FITS 4.0, section 7.3), whose
 * rows are big-endian (row_bytes.c).
 *
 * 1. The header has a TTYPE, TFORM, TUNIT, TUCD and TCOMM for each column, the metadata of the
 *    catalogue, the header of the image as COMMENT, as PyBDSF writes it, and the options as
 *    HISTORY.
 * 2. Rows follow in blocks. The number of rows is known before, so the header is never changed.
 * 3. Zeros fill the last block of 2880 bytes.
 *
 * A file is a catalogue of srcfind if a table has the card SRCFIND and the name of one of its
 * kinds. It is complete if it has two HDUs and ends with the last block. Other FITS files are never
 * replaced. */
#include "output/fits_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "common/path.h"
#include "input/fits/hdu.h"
#include "input/frame.h"
#include "output/cards.h"
#include "output/catalogue_metadata.h"
#include "output/option_cards.h"
#include "output/row_bytes.h"
#include "output/writer.h"

/* The keyword of an item: FRAME for a frame that RADESYS cannot have. */
static const char *keyword_of(const struct metadata_item *item) {
    return strcmp(item->name, "RADESYS") == 0 && !frame_is_radesys(frame_of_name(item->text))
               ? "FRAME"
               : item->keyword;
}

/* Adds a card with the number of a column in its keyword. */
static void add_of_column(struct cards *cards, const char *stem, int i, const char *text) {
    cards_add_text(cards, header_keyword(stem, i + 1).text, text ? text : "");
}

static void add_columns(const struct table *table, struct cards *cards) {
    char text[24];
    for (int i = 0; i < table->columns.n; i++) {
        const struct srcfind_column *column = &table->columns.column[i].shown;
        snprintf(text, sizeof text, "%zuA", table->columns.column[i].width);
        add_of_column(cards, "TTYPE", i, column->name);
        add_of_column(cards, "TFORM", i,
                      column->kind == SRCFIND_STRING ? text
                      : column->kind == SRCFIND_REAL ? "D"
                                                     : "K");
        if (table->columns.column[i].may_be_empty)
            cards_add_integer(cards, header_keyword("TNULL", i + 1).text, SRCFIND_EMPTY);
        add_of_column(cards, "TUNIT", i, column->vounit);
        add_of_column(cards, "TUCD", i, column->ucd);
        add_of_column(cards, "TCOMM", i, column->description);
    }
}

static void add_metadata(const struct table *table, struct cards *cards) {
    struct metadata_item items[MOST_METADATA];
    const int n = catalogue_metadata(table->of, items);
    for (int i = 0; i < n; i++) {
        if (items[i].text)
            cards_add_text(cards, keyword_of(&items[i]), items[i].text);
        else
            cards_add_real(cards, keyword_of(&items[i]), items[i].number);
    }
}

/* The primary HDU has no data. */
static void add_primary(struct cards *cards) {
    cards_add_logical(cards, "SIMPLE", true);
    cards_add_integer(cards, "BITPIX", 8);
    cards_add_integer(cards, "NAXIS", 0);
    cards_add_logical(cards, "EXTEND", true);
    cards_end(cards);
}

/* Adds EXTNAME: the word for the rows of the table, in capital letters. */
static void add_extension_name(enum table_kind kind, struct cards *cards) {
    char name[24] = "";
    for (size_t i = 0; i < sizeof name - 1 && table_words[kind].rows[i]; i++)
        name[i] = ascii_upper(table_words[kind].rows[i]);
    cards_add_text(cards, "EXTNAME", name);
}

/* Adds the header of the image, as PyBDSF does: pipelines read its shape and coordinates. */
static void add_image_header(const struct table *table, struct cards *cards) {
    char line[2 * CARD];
    for (const char *at = table->of->origin.header; at && *at; at += strcspn(at, "\n") + 1) {
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        if (length <= CARD - 8) /* the end of a longer line would become another card */
            cards_add_comment(cards, line);
    }
}

static bool fits_begin(const struct table *table, FILE *stream) {
    struct cards cards = {0};
    size_t widths[MOST_COLUMNS];
    add_primary(&cards);
    cards_add_text(&cards, "XTENSION", "BINTABLE");
    cards_add_integer(&cards, "BITPIX", 8);
    cards_add_integer(&cards, "NAXIS", 2);
    cards_add_integer(&cards, "NAXIS1", (int64_t)row_bytes_widths(table, widths));
    cards_add_integer(&cards, "NAXIS2", table->n_rows);
    cards_add_integer(&cards, "PCOUNT", 0);
    cards_add_integer(&cards, "GCOUNT", 1);
    cards_add_integer(&cards, "TFIELDS", table->columns.n);
    add_extension_name(table->kind, &cards);
    cards_add_text(&cards, "LONGSTRN", "OGIP 1.0"); /* fitsverify wants it beside CONTINUE */
    add_columns(table, &cards);
    add_metadata(table, &cards);
    add_image_header(table, &cards);
    option_cards_add(&cards, "catalogue",
                     !table->images.options_differ ? &table->of->options : NULL);
    const bool ok = cards_end(&cards);
    if (ok)
        fwrite(cards.text, CARD, (size_t)cards.n, stream);
    cards_clear(&cards);
    return ok;
}

static size_t fits_rows(const struct table *table, const struct rows *rows, char *text) {
    size_t widths[MOST_COLUMNS];
    unsigned char *to = (unsigned char *)text;
    row_bytes_widths(table, widths);
    for (int64_t row = 0; row < rows->n; row++)
        to += row_bytes_put(table, rows, row, widths, to);
    return (size_t)(to - (unsigned char *)text);
}

/* Fills the last block with zeros. */
static void fits_end(const struct table *table, FILE *stream) {
    static const char zeros[FITS_BLOCK];
    size_t widths[MOST_COLUMNS];
    const int64_t size = table->n_rows * (int64_t)row_bytes_widths(table, widths);
    fwrite(zeros, 1, (size_t)((FITS_BLOCK - size % FITS_BLOCK) % FITS_BLOCK), stream);
}

/* The HDUs of a file, as far as they can be read. */
struct content {
    int n_hdus;
    bool has_catalogue; /* a table of srcfind */
    bool has_other;     /* an image, or another table */
    bool ends;          /* the file ends with the last block of the last HDU */
};

static bool is_catalogue(const struct hdu *hdu) {
    char name[SRCFIND_TEXT], version[SRCFIND_TEXT];
    int kind = 0;
    if (!header_text(&hdu->header, "EXTNAME", name, sizeof name))
        return false;
    while (kind < TABLE_KINDS && !ascii_same(name, table_words[kind].rows))
        kind++;
    return kind < TABLE_KINDS && header_text(&hdu->header, "SRCFIND", version, sizeof version);
}

static struct content content_of(const char *path) {
    struct content content = {0};
    struct fits_file file;
    struct hdu hdu = {0};
    struct error ignored;
    bool found = fits_file_open(&file, path, &ignored) == SRCFIND_OK;
    while (found && hdu_next(&file, &hdu, &found, &ignored) == SRCFIND_OK && found) {
        const bool is_own = is_catalogue(&hdu), is_primary = hdu.number == 0;
        content.n_hdus++;
        content.ends = hdu.next == fits_file_size(&file);
        content.has_catalogue = content.has_catalogue || is_own;
        content.has_other = content.has_other || hdu.is_image || (!is_primary && !is_own);
    }
    hdu_clear(&hdu);
    fits_file_close(&file);
    return content;
}

static bool fits_is_whole(const char *path) {
    const struct content content = content_of(path);
    return content.n_hdus == 2 && content.has_catalogue && content.ends;
}

bool fits_table_is_foreign(const char *path) {
    return !path_is_stream(path) && content_of(path).has_other;
}

static const char *const suffixes[] = {".fits", ".fit", NULL};

const struct writer fits_writer = {
    .format = {"fits", suffixes},
    .about = "FITS binary table",
    .is_table = true,
    .is_binary = true,
    .is_whole = fits_is_whole,
    .begin = fits_begin,
    .rows = {fits_rows, ROW_MOST_BYTES},
    .end = fits_end,
};
