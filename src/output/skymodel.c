/* The sky models of DP3, LSMTool and BBS (makesourcedb): https://dp3.readthedocs.io. */
#include "output/sexagesimal.h"
#include "output/sky_model.h"
#include "output/writer.h"

enum { ROW_BYTES = 20 * FORMAT_TEXT }; /* of a row with the line of its patch */

static bool has_patches(const struct table *table) {
    return table->of->options.patches > PATCHES_NONE;
}

/* Rows have all values; the defaults are for rows that a user adds. */
static bool skymodel_begin(const struct table *table, FILE *stream) {
    char frequency[FORMAT_TEXT], index[FORMAT_TEXT];
    format_double(table->of->image.frequency, frequency);
    format_double(options_spectral_index(&table->of->options), index);
    fprintf(stream,
            "FORMAT = Name, Type, %sRa, Dec, I, MajorAxis, MinorAxis, Orientation, "
            "OrientationIsAbsolute='true', ReferenceFrequency='%s', SpectralIndex='[%s]', "
            "LogarithmicSI='true'\n",
            has_patches(table) ? "Patch, " : "", frequency, index);
    return true;
}

static char *add_position(char *to, double lon, double lat) {
    const struct sexagesimal ra = sexagesimal_hours(lon, RA_PARTS),
                             dec = sexagesimal_degrees(lat, DEC_PARTS);
    to = sexagesimal_add(to, &ra, ":", RA_PARTS);
    to = format_add_text(to, dec.is_negative ? ", -" : ", +");
    return sexagesimal_add(to, &dec, ".", DEC_PARTS);
}

/* The name of a patch: s12 for a source, i3 for an island. */
static char *add_patch(const struct table *table, const struct sky_row *row, char *to) {
    *to++ = table->of->options.patches == PATCHES_SOURCE ? 's' : 'i';
    return format_add_integer(to, sky_model_patch(&table->of->options, row));
}

static char *add_patch_line(const struct table *table, const struct sky_row *row, char *to) {
    to = format_add_text(add_patch(table, row, format_add_text(to, ", , ")), ", ");
    return format_add_text(add_position(to, row->patch_lon, row->patch_lat), "\n");
}

static char *add_row(const struct table *table, const struct sky_row *row, char *to) {
    const double values[] = {row->flux, row->major * 3600, row->minor * 3600, row->angle};
    to = format_add_integer(format_add_text(to, "s"), row->source_id);
    to = format_add_integer(format_add_text(to, "g"), row->number);
    to = format_add_text(to, row->major > 0 ? ", GAUSSIAN, " : ", POINT, ");
    if (has_patches(table))
        to = format_add_text(add_patch(table, row, to), ", ");
    to = add_position(to, row->lon, row->lat);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        to = format_add(format_add_text(to, ", "), values[i]);
    to = format_add(format_add_text(to, ", true, "), row->frequency);
    to = format_add(format_add_text(to, ", ["), row->index);
    return format_add_text(to, "], true\n");
}

static size_t skymodel_rows(const struct table *table, const struct rows *rows, char *text) {
    char *to = text;
    for (int64_t i = 0; i < rows->n; i++) {
        const struct sky_row *row = sky_model_row(rows, i);
        if (has_patches(table) && row->begins_patch)
            to = add_patch_line(table, row, to);
        to = add_row(table, row, to);
    }
    return (size_t)(to - text);
}

static const char *const suffixes[] = {".skymodel", NULL};

const struct writer skymodel_writer = {
    .format = {"skymodel", suffixes},
    .about = "sky model of makesourcedb and DP3",
    .alias = "bbs",
    .is_sky_model = true,
    .ends = {"FORMAT = Name, Type, ", "\n"},
    .begin = skymodel_begin,
    .rows = {skymodel_rows, ROW_BYTES},
};
