/* A table of ten columns, to be read by eye, in lines of at most 96 characters; with scales,
 * spectral indices or entries there is one column more for each, in 120 characters but for long
 * entries. Positions have more decimals where pixels are small. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/format_double.h"
#include "output/table.h"
#include "output/writer.h"

enum { CELL = 24, ROW_BYTES = 12 * (CELL + 1) + SRCFIND_CELL };

/* Writes a number with some decimals, or "-" if it does not apply, to `text`, of CELL characters.
 * Returns `text`. */
static const char *cell(double value, int decimals, char *text) {
    if (!isfinite(value))
        return "-";
    snprintf(text, CELL, fabs(value) < 1e8 ? "%.*f" : "%.*g", decimals, value);
    return format_point(text);
}

/* Writes a number with so many digits. */
static const char *digits(double value, int n, char *text) {
    if (!isfinite(value))
        return "-";
    snprintf(text, CELL, "%.*g", n, value);
    return format_point(text);
}

static bool has_scales(const struct table *table) {
    return table->of->options.scales.n > 0;
}

static bool has_spectra(const struct table *table) {
    return table->of->options.measure_in.n > 0 && table->kind == TABLE_OF_SOURCES;
}

static bool has_entries(const struct table *table) {
    return *table->of->options.at;
}

/* Decimals of degrees: a tenth of a pixel, and at least 5; of pixels 2. */
static int decimals_of_positions(const struct srcfind_image *image) {
    if (!*image->lon_name)
        return 2;
    const double needed = image->pixel_area > 0 ? ceil(1 - log10(image->pixel_area) / 2) : 5;
    return (int)fmin(fmax(needed, 5), 10);
}

/* Writes a name or a unit to the right of a column. What is too long ends with dots: cut alone it
 * may be another unit. */
static void write_label(const char *label, int width, FILE *stream) {
    const bool is_cut = strlen(label) > (size_t)width;
    const int kept = is_cut ? width - 3 : width;
    fprintf(stream, " %*.*s%s", kept, kept, label, is_cut ? "..." : "");
}

/* Writes the line of names or of units. */
static void write_head(const struct table *table, const char *const of[13], FILE *stream) {
    static const int widths[] = {10, 11, 10, 12};
    const int width = 4 + decimals_of_positions(&table->of->image);
    fprintf(stream, "%6s %*s %*s", of[0], width, of[1], width, of[2]);
    for (int i = 0; i < 4; i++)
        write_label(of[3 + i], widths[i], stream);
    fprintf(stream, " %7s %8s", of[7], of[8]);
    if (has_scales(table))
        fprintf(stream, " %5s", of[9]);
    if (has_spectra(table))
        fprintf(stream, " %9s", of[10]);
    fprintf(stream, " %5s", of[11]);
    if (has_entries(table))
        fprintf(stream, " %s", of[12]);
    fputc('\n', stream);
}

static bool table_begin(const struct table *table, FILE *stream) {
    const struct srcfind_image *image = &table->of->image;
    const bool has_sky = *image->lon_name;
    const char *const names[] = {"Source",
                                 has_sky ? image->lon_name : "Xposn",
                                 has_sky ? image->lat_name : "Yposn",
                                 "Peak_flux",
                                 "E_Peak_flux",
                                 "Total_flux",
                                 "E_Total_flux",
                                 "SNR",
                                 "Maj",
                                 "Scale",
                                 "Spec_Indx",
                                 "Flags",
                                 "Entry_id"};
    const char *const place = has_sky ? "deg" : "pix", *const size = has_sky ? "arcsec" : "pix";
    const char *const units[] = {
        "",   place, place, image->unit, image->unit, image->flux_unit, image->flux_unit, "",
        size, "",    "",    "",          ""};
    write_head(table, names, stream);
    write_head(table, units, stream);
    return true;
}

/* Writes a row, and returns its length. */
static int write_row(const struct table *table, const struct srcfind_source *s, char *text) {
    const struct srcfind_image *image = &table->of->image;
    const bool has_sky = *image->lon_name;
    const int decimals = decimals_of_positions(image), width = 4 + decimals;
    char c[10][CELL];
    int n = snprintf(text, ROW_BYTES, "%6lld %*s %*s %10s %11s %10s %12s %7s %8s", (long long)s->id,
                     width, cell(has_sky ? s->lon : s->x, decimals, c[0]), width,
                     cell(has_sky ? s->lat : s->y, decimals, c[1]), digits(s->peak_flux, 4, c[2]),
                     digits(s->e_peak_flux, 2, c[3]), digits(s->total_flux, 4, c[4]),
                     digits(s->e_total_flux, 2, c[5]), cell(s->snr, 1, c[6]),
                     digits((has_sky ? 3600 : 1) * s->major, 4, c[7]));
    if (has_scales(table))
        n += snprintf(text + n, (size_t)(ROW_BYTES - n), " %5s", digits(s->scale, 4, c[8]));
    if (has_spectra(table))
        n += snprintf(text + n, (size_t)(ROW_BYTES - n), " %9s", cell(s->spectral_index, 2, c[9]));
    n += snprintf(text + n, (size_t)(ROW_BYTES - n), " %5lld", (long long)s->flags);
    if (has_entries(table))
        n += snprintf(text + n, (size_t)(ROW_BYTES - n), " %s", s->entry_id);
    n += snprintf(text + n, (size_t)(ROW_BYTES - n), "\n");
    return n;
}

static size_t table_rows(const struct table *table, const struct rows *rows, char *text) {
    char *to = text;
    for (int64_t row = 0; row < rows->n; row++)
        to += write_row(table, rows_source(rows, row), to);
    return (size_t)(to - text);
}

static const char *const suffixes[] = {".txt", NULL};

const struct writer table_writer = {
    .format = {"table", suffixes},
    .about = "rounded table for reading",
    .ends = {"Source", "\n"},
    .begin = table_begin,
    .rows = {table_rows, ROW_BYTES},
};
