/* The sky models of SAGECal (https://github.com/nlesc-dirac/sagecal, README.md, 2b and 2c): a list
 * of sources, and beside it one of the clusters that are calibrated together. */
#include "output/sky_model.h"
#include "output/writer.h"

#include <math.h>

#include "common/format_double.h"

enum { ROW_BYTES = 20 * FORMAT_TEXT };

/* SAGECal cannot transform a Gaussian whose minor axis is 0: a thousandth of the major one is as
 * good as none. */
static const double LEAST_AXIS = 1e-3;

static bool sagecal_begin(const struct srcfind_catalogue *catalogue, FILE *stream) {
    (void)catalogue;
    fputs("# srcfind sky model for SAGECal: name h m s d m s I Q U V si RM eX eY eP f0\n", stream);
    return true;
}

/* The type of a source is the first letter of its name. */
static char *add_name(const struct sky_row *row, char *to) {
    to = sky_model_add(to, row->major > 0 ? "Gs" : "Ps");
    to = sky_model_add_integer(to, row->source_id);
    return sky_model_add_integer(sky_model_add(to, "g"), row->number);
}

/* SAGECal reads degrees, minutes and seconds as reals, and takes the sign of all three from the
 * degrees, of which -0 is no negative number. So between 0 and -1 degrees these have it all. */
static char *add_declination(char *to, double lat) {
    const struct sexagesimal dec = sky_model_degrees(lat);
    if (dec.is_negative && dec.whole == 0) {
        const int64_t parts = (60 * dec.minutes + dec.seconds) * DEC_PARTS + dec.part;
        to = sky_model_add_number(to, (double)-parts / (3600.0 * DEC_PARTS));
        return sky_model_add(to, " 0 0");
    }
    return sky_model_add_angle(sky_model_add(to, dec.is_negative ? "-" : ""), &dec, " ", DEC_PARTS);
}

/* eX and eY are half of the FWHM, and the angle eP of the major axis is 0 in the west, where
 * that of a catalogue is -90 degrees. An index is that of natural logarithms, too, which are
 * proportional to others. */
static char *add_row(const struct sky_row *row, char *to) {
    const double radian = M_PI / 180, least = LEAST_AXIS * row->major;
    const double shape[] = {row->major * radian / 2, fmax(row->minor, least) * radian / 2,
                            row->major > 0 ? (row->angle - 90) * radian : 0};
    const struct sexagesimal ra = sky_model_hours(row->lon);
    to = sky_model_add_angle(sky_model_add(add_name(row, to), " "), &ra, " ", RA_PARTS);
    to = add_declination(sky_model_add(to, " "), row->lat);
    to = sky_model_add_number(sky_model_add(to, " "), row->flux);
    to = sky_model_add_number(sky_model_add(to, " 0 0 0 "), row->index);
    to = sky_model_add(to, " 0");
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        to = sky_model_add_number(sky_model_add(to, " "), shape[i]);
    to = sky_model_add_number(sky_model_add(to, " "), row->frequency);
    return sky_model_add(to, "\n");
}

static size_t sagecal_rows(const struct srcfind_catalogue *catalogue, const struct rows *rows,
                           char *text) {
    char *to = text;
    (void)catalogue;
    for (int64_t i = 0; i < rows->n; i++)
        to = add_row(sky_model_row(rows, i), to);
    return (size_t)(to - text);
}

/* One cluster a patch, with its number, or number 1 for all; each has one solution at a time. */
static void sagecal_clusters(const struct sky_model *model, FILE *stream) {
    char name[ROW_BYTES];
    fputs("# srcfind clusters for SAGECal: cluster_id chunk_size names\n", stream);
    for (int64_t i = 0; i < model->n; i++) {
        const struct sky_row *row = &model->rows[i];
        const long long patch = sky_model_patch(&model->catalogue, row);
        if (row->begins_patch)
            fprintf(stream, "%s%lld 1", i > 0 ? "\n" : "", patch ? patch : 1);
        *add_name(row, name) = '\0';
        fprintf(stream, " %s", name);
    }
    if (model->n > 0)
        fputs("\n", stream);
}

static const char *const suffixes[] = {".sagecal", NULL};
static const struct beside clusters = {".cluster", "list of clusters", sagecal_clusters};

const struct writer sagecal_writer = {
    .format = {"sagecal", suffixes},
    .about = "sky model of SAGECal, with a list of clusters",
    .is_sky_model = true,
    .first = "# srcfind sky model for SAGECal",
    .last = "\n",
    .begin = sagecal_begin,
    .rows = sagecal_rows,
    .row_bytes = ROW_BYTES,
    .beside = &clusters,
};
