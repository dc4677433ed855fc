/* A table of ten columns, or eleven with scales, to be read by eye. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/format_double.h"
#include "output/table.h"
#include "output/writer.h"

enum { CELL = 24, ROW_BYTES = 11 * (CELL + 1) };

/* Writes a number with some decimals, or "-" if it does not apply, to `text`, of CELL characters.
 * Returns `text`. */
static const char *cell(double value, int decimals, char *text) {
    if (!isfinite(value))
        return "-";
    snprintf(text, CELL, fabs(value) < 1e8 ? "%.*f" : "%.*g", decimals, value);
    return format_point(text);
}

/* Writes a number with four digits. */
static const char *digits(double value, char *text) {
    if (!isfinite(value))
        return "-";
    snprintf(text, CELL, "%.4g", value);
    return format_point(text);
}

/* Writes a cell of the column Scale; "" without scales. */
static const char *scale_cell(const struct table *table, double scale, char *text) {
    char number[CELL];
    text[0] = '\0';
    if (table->of->options.scales.n > 0)
        snprintf(text, CELL, " %6s", digits(scale, number));
    return text;
}

static bool table_begin(const struct table *table, FILE *stream) {
    const struct srcfind_image *image = &table->of->image;
    const bool has_sky = *image->lon_name, has_scales = table->of->options.scales.n > 0;
    fprintf(stream, "%8s %11s %11s %10s %10s %11s %11s %9s %9s%s %6s\n", "Source",
            has_sky ? image->lon_name : "RA", has_sky ? image->lat_name : "DEC", "Xposn", "Yposn",
            "Peak_flux", "Total_flux", "SNR", "Maj", has_scales ? "  Scale" : "", "Flags");
    fprintf(stream, "%8s %11s %11s %10s %10s %11.11s %11.11s %9s %9s%s %6s\n", "", "deg", "deg",
            "pix", "pix", image->unit, image->flux_unit, "", has_sky ? "arcsec" : "pix",
            has_scales ? "       " : "", "");
    return true;
}

static size_t table_rows(const struct table *table, const struct rows *rows, char *text) {
    const double to_arcsec = *table->of->image.lon_name ? 3600 : 1; /* or pixels */
    char *to = text, c[9][CELL];
    for (int64_t row = 0; row < rows->n; row++) {
        const struct srcfind_source *s = rows_source(rows, row);
        to += snprintf(to, ROW_BYTES, "%8lld %11s %11s %10s %10s %11s %11s %9s %9s%s %6lld\n",
                       (long long)s->id, cell(s->lon, 5, c[0]), cell(s->lat, 5, c[1]),
                       cell(s->x, 2, c[2]), cell(s->y, 2, c[3]), digits(s->peak_flux, c[4]),
                       digits(s->total_flux, c[5]), cell(s->snr, 1, c[6]),
                       digits(to_arcsec * s->major, c[7]), scale_cell(table, s->scale, c[8]),
                       (long long)s->flags);
    }
    return (size_t)(to - text);
}

static const char *const suffixes[] = {".txt", NULL};

const struct writer table_writer = {
    .format = {"table", suffixes},
    .about = "rounded table for reading",
    .ends = {"  Source", "\n"},
    .begin = table_begin,
    .rows = {table_rows, ROW_BYTES},
};
