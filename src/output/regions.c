/* Region files of DS9 and of CASA: an ellipse for each source. */
#include <math.h>
#include <string.h>

#include "common/format_double.h"
#include "output/ellipses.h"
#include "output/table.h"
#include "output/writer.h"

enum { ROW_BYTES = 12 * FORMAT_TEXT };

/* --- DS9 (https://ds9.si.edu/doc/ref/region.html) --- */

static bool reg_begin(const struct table *table, FILE *stream) {
    const struct frame *frame = ellipses_frame(&table->of->image);
    fputs("# Region file format: DS9 version 4.1\n"
          "global color=green\n",
          stream);
    fprintf(stream, "%s\n", frame ? frame->ds9 : "image");
    return true;
}

/* DS9 turns the first axis from the x axis, which points west, so its angle is 90 degrees more than
 * from north or from the y axis. It counts pixels from 1. A frame applies to all lines that follow:
 * after a source in pixels the frame of the others is written again. */
static char *reg_row(const struct table *table, const struct srcfind_source *source, char *to) {
    const bool on_sky = ellipses_are_on_sky(&table->of->image, source);
    const struct ellipse e = ellipses_of_source(&table->of->image, source, on_sky);
    const struct frame *other = on_sky ? NULL : ellipses_frame(&table->of->image);
    const char *unit = on_sky ? "\"," : ",";
    const double scale = on_sky ? 3600 : 1, first = on_sky ? 0 : 1;
    if (other)
        to = format_add_text(to, "image;");
    to = format_add(format_add_text(to, "ellipse("), e.x + first);
    to = format_add(format_add_text(to, ","), e.y + first);
    to = format_add(format_add_text(to, ","), e.major * scale);
    to = format_add(format_add_text(to, unit), e.minor * scale);
    to = format_add(format_add_text(to, unit), e.angle + 90);
    to = format_add_text(to, ") # text={");
    to = format_add_integer(to, source->id);
    to = format_add_text(to, "}\n");
    return other ? format_add_text(format_add_text(to, other->ds9), "\n") : to;
}

/* --- CASA (CRTF version 0) --- */

static bool crtf_begin(const struct table *table, FILE *stream) {
    (void)table;
    fputs("#CRTFv0 CASA Region Text Format version 0\n", stream);
    return true;
}

static char *crtf_row(const struct table *table, const struct srcfind_source *source, char *to) {
    const bool on_sky = ellipses_are_on_sky(&table->of->image, source);
    const struct ellipse e = ellipses_of_source(&table->of->image, source, on_sky);
    const char *unit = on_sky ? "deg" : "pix", *length = on_sky ? "arcsec" : "pix";
    const double scale = on_sky ? 3600 : 1;
    to = format_add(format_add_text(to, "ellipse [["), e.x);
    to = format_add(format_add_text(format_add_text(to, unit), ", "), e.y);
    to = format_add(format_add_text(format_add_text(to, unit), "], ["), e.major * scale);
    to = format_add(format_add_text(format_add_text(to, length), ", "), e.minor * scale);
    to = format_add(format_add_text(format_add_text(to, length), "], "), e.angle);
    to = format_add_text(to, "deg]");
    if (on_sky)
        to = format_add_text(format_add_text(to, ", coord="),
                             ellipses_frame(&table->of->image)->casa);
    to = format_add_text(to, ", label=\"");
    to = format_add_integer(to, source->id);
    return format_add_text(to, "\"\n");
}

/* --- both --- */

typedef char *row_function(const struct table *table, const struct srcfind_source *source,
                           char *to);

static size_t write_rows(const struct table *table, const struct rows *rows, row_function *write,
                         char *text) {
    char *to = text;
    for (int64_t row = 0; row < rows->n; row++) {
        const struct srcfind_source *source = rows_source(rows, row);
        if (isfinite(source->x) && isfinite(source->y))
            to = write(table, source, to);
    }
    return (size_t)(to - text);
}

static size_t reg_rows(const struct table *table, const struct rows *rows, char *text) {
    return write_rows(table, rows, reg_row, text);
}

static size_t crtf_rows(const struct table *table, const struct rows *rows, char *text) {
    return write_rows(table, rows, crtf_row, text);
}

static const char *const reg_suffixes[] = {".reg", ".reg.gz", NULL}, *const crtf_suffixes[] = {
                                                                         ".crtf", NULL};

const struct writer reg_writer = {
    .format = {"reg", reg_suffixes},
    .about = "regions of DS9",
    .alias = "ds9",
    .ends = {"# Region file format: DS9", "\n"},
    .begin = reg_begin,
    .rows = {reg_rows, ROW_BYTES},
};

const struct writer crtf_writer = {
    .format = {"crtf", crtf_suffixes},
    .about = "regions of CASA",
    .ends = {"#CRTFv0", "\n"},
    .begin = crtf_begin,
    .rows = {crtf_rows, ROW_BYTES},
};
