/* The format VOTable 1.4 (IVOA 2019), with the rows in BINARY2:
 *
 * 1. The header has the coordinate system, the metadata and options as PARAM, and a FIELD for each
 *    column.
 * 2. A row is a bit for each column, set if the cell is empty, and the big-endian bytes of its
 *    cells.
 * 3. base64 makes four characters of three bytes. A text column is filled up until the bytes of a
 *    row are a multiple of three. Without such a column one or two bytes are left over, and begin
 *    the next line; the last row of a block is filled with `=`.
 *
 * Blocks have a multiple of three rows, so no bytes are left over between blocks, and threads
 * format them apart. The XML is always valid UTF-8, whatever the header of the image has. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/format_double.h"
#include "common/utf8.h"
#include "input/frame.h"
#include "output/catalogue_metadata.h"
#include "output/row_bytes.h"
#include "output/writer.h"

/* Bytes of a row before base64: a bit for each column, set if the cell is empty, 8 bytes for each
 * number, and the width of each text. */
enum { MOST_BYTES = MOST_COLUMNS + ROW_MOST_BYTES };

static size_t flag_bytes(const struct table *table) {
    return ((size_t)table->columns.n + 7) / 8;
}

/* Sets the bytes of each cell. Texts have at least two characters: arraysize="1" is deprecated
 * (erratum 3 of VOTable 1.3), and astropy warns of a text without arraysize. The first text is
 * filled up until the bytes of a row are a multiple of three. */
static void widths_of(const struct table *table, size_t widths[MOST_COLUMNS]) {
    size_t n = flag_bytes(table) + row_bytes_widths(table, widths);
    size_t *first = NULL;
    for (int i = 0; i < table->columns.n; i++) {
        if (table->columns.column[i].shown.kind != SRCFIND_STRING)
            continue;
        first = first ? first : &widths[i];
        if (widths[i] < 2) {
            n += 2 - widths[i];
            widths[i] = 2;
        }
    }
    if (first)
        *first += (3 - n % 3) % 3;
}

/* --- XML --- */

/* Writes a text as the value of an attribute, or as the content of an element. Bytes that are not
 * UTF-8, or not allowed in XML, become `?`. */
static void write_escaped(const char *text, FILE *stream) {
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const int n = utf8_length(c);
        if (*c == '&' || *c == '<' || *c == '>' || *c == '"')
            fprintf(stream, "&#%d;", *c);
        else if (n == 0 || *c < ' ')
            fputc('?', stream);
        else
            fwrite(c, 1, (size_t)n, stream);
        c += n > 0 ? n : 1;
    }
}

static void write_attribute(const char *name, const char *value, FILE *stream) {
    if (!value || !*value)
        return;
    fprintf(stream, " %s=\"", name);
    write_escaped(value, stream);
    fputc('"', stream);
}

/* --- the header --- */

static const char *coordinate_system(const struct srcfind_image *image) {
    if (strcmp(image->frame, "ECLIPTIC") == 0 && image->equinox < 1984) /* as for RADESYS */
        return "ecl_FK4";
    return frame_of_name(image->frame)->votable;
}

static void write_system(const struct srcfind_image *image, FILE *stream) {
    const char *system = coordinate_system(image);
    if (!system)
        return;
    fprintf(stream, "<COOSYS ID=\"frame\" system=\"%s\"", system);
    if (isfinite(image->equinox) && strchr(system, '_')) {
        char equinox[FORMAT_TEXT];
        format_double(image->equinox, equinox);
        fprintf(stream, " equinox=\"%c%s\"", strstr(system, "FK4") ? 'B' : 'J', equinox);
    }
    fputs("/>\n", stream);
}

static void write_text_param(const char *name, const char *value, FILE *stream) {
    fprintf(stream, "<PARAM name=\"%s\" datatype=\"char\" arraysize=\"*\"", name);
    write_attribute("value", value, stream);
    fputs("/>\n", stream);
}

static void write_item(const struct metadata_item *item, FILE *stream) {
    char number[FORMAT_TEXT];
    if (item->text) {
        write_text_param(item->name, item->text, stream);
        return;
    }
    format_double(item->number, number);
    fprintf(stream, "<PARAM name=\"%s\" datatype=\"double\"", item->name);
    write_attribute("unit", item->unit, stream);
    fprintf(stream, " value=\"%s\"/>\n", number);
}

/* Writes the autocorrelation of the noise, which is known if there is a fit. */
static void write_correlation(const struct srcfind_correlation *c, FILE *stream) {
    const double steps[] = {c->step_x, c->step_y};
    char number[FORMAT_TEXT];
    if (!c->values)
        return;
    fprintf(
        stream,
        "<PARAM name=\"noise_correlation\" datatype=\"double\" arraysize=\"%lldx%lld\" value=\"",
        (long long)c->n_x, (long long)c->n_y);
    for (int64_t i = 0; i < c->n_x * c->n_y; i++) {
        format_double(c->values[i], number);
        fprintf(stream, "%s%s", i > 0 ? " " : "", number);
    }
    fputs("\"/>\n", stream);
    for (int i = 0; i < 2; i++) {
        format_double(steps[i], number);
        fprintf(stream,
                "<PARAM name=\"noise_correlation_step_%s\" datatype=\"double\" unit=\"pixel\" "
                "value=\"%s\"/>\n",
                i == 0 ? "x" : "y", number);
    }
}

/* Writes options under names of their own: option_threshold and the like. */
static void write_options(const struct options *options, FILE *stream) {
    struct shaping_option option;
    char name[64];
    for (int i = 0; options_next_shaping(options, &i, &option);) {
        snprintf(name, sizeof name, "option_%s", option.name);
        if (*option.value)
            write_text_param(name, option.value, stream);
    }
}

/* Writes the FIELD of a column; a text has `width` characters. */
static void write_field(const struct table *table, int i, size_t width, FILE *stream) {
    const struct srcfind_column *column = &table->columns.column[i].shown;
    const bool is_position =
        strncmp(column->ucd, "pos.", 4) == 0 && strstr(column->ucd, "meta.main");
    fputs("<FIELD", stream);
    if (table->field_ids)
        fprintf(stream, " ID=\"%s%s\"", table->field_ids, column->name);
    fprintf(stream, " name=\"%s\"", column->name);
    if (column->kind == SRCFIND_STRING)
        fprintf(stream, " datatype=\"char\" arraysize=\"%zu\"", width);
    else
        fprintf(stream, " datatype=\"%s\"", column->kind == SRCFIND_REAL ? "double" : "long");
    write_attribute("unit", column->vounit, stream);
    write_attribute("ucd", column->ucd, stream);
    if (is_position && coordinate_system(&table->of->image))
        fputs(" ref=\"frame\"", stream);
    fputs("><DESCRIPTION>", stream);
    write_escaped(column->description, stream);
    fputs("</DESCRIPTION></FIELD>\n", stream);
}

static bool votable_begin(const struct table *table, FILE *stream) {
    struct metadata_item items[MOST_METADATA];
    const int n_items = catalogue_metadata(table->of, items);
    size_t widths[MOST_COLUMNS];
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<VOTABLE version=\"1.4\" xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\">\n"
          "<RESOURCE type=\"results\">\n",
          stream);
    write_system(&table->of->image, stream);
    fprintf(stream, "<TABLE name=\"%s\" nrows=\"%lld\">\n", table_words[table->kind].rows,
            (long long)table->n_rows);
    for (int i = 0; i < n_items; i++)
        write_item(&items[i], stream);
    write_correlation(&table->of->correlation, stream);
    if (!table->images.options_differ)
        write_options(&table->of->options, stream);
    widths_of(table, widths);
    for (int i = 0; i < table->columns.n; i++)
        write_field(table, i, widths[i], stream);
    fputs("<DATA><BINARY2><STREAM encoding=\"base64\">\n", stream);
    return true;
}

/* --- the rows --- */

/* Writes the bytes of a row, and returns their number. */
static size_t row_of(const struct table *table, const struct rows *rows, int64_t row,
                     const size_t *widths, unsigned char *bytes) {
    const size_t flags = flag_bytes(table);
    memset(bytes, 0, flags);
    for (int i = 0; i < table->columns.n; i++)
        if (row_cell_is_empty(rows, row, &table->columns.column[i]))
            bytes[i / 8] |= (unsigned char)(0x80 >> i % 8);
    return flags + row_bytes_put(table, rows, row, widths, bytes + flags);
}

static char *put_base64(const unsigned char *bytes, size_t n, char *to) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const unsigned three =
            (unsigned)bytes[i] << 16 | (unsigned)bytes[i + 1] << 8 | bytes[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6)
            *to++ = digits[three >> shift & 63];
    }
    return to;
}

/* Writes the last one or two bytes, if any. */
static char *put_rest(const unsigned char *rest, size_t n, char *to) {
    const unsigned char three[3] = {n > 0 ? rest[0] : 0, n > 1 ? rest[1] : 0, 0};
    if (n == 0)
        return to;
    to = put_base64(three, 3, to);
    memset(to - (3 - n), '=', 3 - n);
    *to++ = '\n';
    return to;
}

/* Writes a line for each row. Its bytes are made at the end of its part of `text`, behind the bytes
 * left over from the row before: base64 is then written before them, and never reaches them. */
static size_t votable_rows(const struct table *table, const struct rows *rows, char *text) {
    const size_t most = writer_row_bytes(&votable_writer, table);
    size_t widths[MOST_COLUMNS], n_bytes = flag_bytes(table), n_rest = 0;
    unsigned char rest[3] = {0};
    char *to = text;
    widths_of(table, widths);
    for (int i = 0; i < table->columns.n; i++)
        n_bytes += widths[i];
    for (int64_t row = 0; row < rows->n; row++) {
        unsigned char *bytes = (unsigned char *)text + ((size_t)row + 1) * most - n_bytes;
        row_of(table, rows, row, widths, bytes);
        const size_t n = n_rest + n_bytes;
        bytes -= n_rest;
        memcpy(bytes, rest, n_rest);
        n_rest = n % 3;
        memcpy(rest, bytes + n - n_rest, n_rest);
        to = put_base64(bytes, n - n_rest, to);
        *to++ = '\n';
    }
    return (size_t)(put_rest(rest, n_rest, to) - text);
}

static const char *const suffixes[] = {".vot",        ".votable", ".xml", ".vot.gz",
                                       ".votable.gz", ".xml.gz",  NULL};

const struct writer votable_writer = {
    .format = {"votable", suffixes},
    .about = "VOTable",
    .is_table = true,
    .ends = {"<?xml version=\"1.0\" encod", "</RESOURCE>\n</VOTABLE>\n"},
    .begin = votable_begin,
    .rows = {votable_rows, MOST_BYTES / 3 * 4 + 8},
    .after = "</STREAM></BINARY2></DATA>\n</TABLE>\n</RESOURCE>\n</VOTABLE>\n",
};
