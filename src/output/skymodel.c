/* The sky models of DP3, LSMTool and BBS (makesourcedb): https://dp3.readthedocs.io. */
#include "output/sky_model.h"
#include "output/writer.h"

#include "common/format_double.h"

enum { ROW_BYTES = 20 * FORMAT_TEXT }; /* with the line of a patch */

static bool has_patches(const struct srcfind_catalogue *catalogue) {
    return catalogue->options.patches > PATCHES_NONE;
}

/* Rows have all values, so that the defaults are for those that a user adds. */
static bool skymodel_begin(const struct srcfind_catalogue *catalogue, FILE *stream) {
    char frequency[FORMAT_TEXT], index[FORMAT_TEXT];
    format_double(catalogue->image.frequency, frequency);
    format_double(options_spectral_index(&catalogue->options), index);
    fprintf(stream,
            "FORMAT = Name, Type, %sRa, Dec, I, MajorAxis, MinorAxis, Orientation, "
            "OrientationIsAbsolute='true', ReferenceFrequency='%s', SpectralIndex='[%s]', "
            "LogarithmicSI='true'\n",
            has_patches(catalogue) ? "Patch, " : "", frequency, index);
    return true;
}

static char *add_position(char *to, double lon, double lat) {
    const struct sexagesimal ra = sky_model_hours(lon), dec = sky_model_degrees(lat);
    to = sky_model_add_angle(to, &ra, ":", RA_PARTS);
    to = sky_model_add(to, dec.is_negative ? ", -" : ", +");
    return sky_model_add_angle(to, &dec, ".", DEC_PARTS);
}

/* The name of a patch: s12 for a source, i3 for an island. */
static char *add_patch(const struct srcfind_catalogue *catalogue, const struct sky_row *row,
                       char *to) {
    *to++ = catalogue->options.patches == PATCHES_SOURCE ? 's' : 'i';
    return sky_model_add_integer(to, sky_model_patch(catalogue, row));
}

static char *add_patch_line(const struct srcfind_catalogue *catalogue, const struct sky_row *row,
                            char *to) {
    to = sky_model_add(add_patch(catalogue, row, sky_model_add(to, ", , ")), ", ");
    return sky_model_add(add_position(to, row->patch_lon, row->patch_lat), "\n");
}

static char *add_row(const struct srcfind_catalogue *catalogue, const struct sky_row *row,
                     char *to) {
    const double values[] = {row->flux, row->major * 3600, row->minor * 3600, row->angle};
    to = sky_model_add_integer(sky_model_add(to, "s"), row->source_id);
    to = sky_model_add_integer(sky_model_add(to, "g"), row->number);
    to = sky_model_add(to, row->major > 0 ? ", GAUSSIAN, " : ", POINT, ");
    if (has_patches(catalogue))
        to = sky_model_add(add_patch(catalogue, row, to), ", ");
    to = add_position(to, row->lon, row->lat);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        to = sky_model_add_number(sky_model_add(to, ", "), values[i]);
    to = sky_model_add_number(sky_model_add(to, ", true, "), row->frequency);
    to = sky_model_add_number(sky_model_add(to, ", ["), row->index);
    return sky_model_add(to, "], true\n");
}

static size_t skymodel_rows(const struct srcfind_catalogue *catalogue, const struct rows *rows,
                            char *text) {
    char *to = text;
    for (int64_t i = 0; i < rows->n; i++) {
        const struct sky_row *row = sky_model_row(rows, i);
        if (has_patches(catalogue) && row->begins_patch)
            to = add_patch_line(catalogue, row, to);
        to = add_row(catalogue, row, to);
    }
    return (size_t)(to - text);
}

static const char *const suffixes[] = {".skymodel", NULL};

const struct writer skymodel_writer = {
    .format = {"skymodel", suffixes},
    .about = "sky model of makesourcedb and DP3",
    .alias = "bbs",
    .is_sky_model = true,
    .first = "FORMAT = Name, Type, ",
    .last = "\n",
    .begin = skymodel_begin,
    .rows = skymodel_rows,
    .row_bytes = ROW_BYTES,
};
