/* The sky models of SAGECal (https://github.com/nlesc-dirac/sagecal, README.md, 2b and 2c): a list
 * of sources, and beside it one of the clusters that are calibrated together. */
#include "output/sexagesimal.h"
#include "output/sky_model.h"
#include "output/writer.h"

#include <math.h>

enum { ROW_BYTES = 20 * FORMAT_TEXT };

/* SAGECal cannot transform a Gaussian whose minor axis is 0. A thousandth of the major axis makes
 * no difference. */
static const double LEAST_AXIS = 1e-3;

static bool sagecal_begin(const struct table *table, FILE *stream) {
    (void)table;
    fputs("# srcfind sky model for SAGECal: name h m s d m s I Q U V si RM eX eY eP f0\n", stream);
    return true;
}

/* The type of a source is the first letter of its name. */
static char *add_name(const struct sky_row *row, char *to) {
    to = format_add_text(to, row->major > 0 ? "Gs" : "Ps");
    to = format_add_integer(to, row->source_id);
    return format_add_integer(format_add_text(to, "g"), row->number);
}

/* SAGECal reads degrees, minutes and seconds as reals, and takes the sign from the degrees, where
 * -0 is not negative. So between 0 and -1 degrees the whole declination is written as degrees. */
static char *add_declination(char *to, double lat) {
    const struct sexagesimal dec = sexagesimal_degrees(lat, DEC_PARTS);
    if (dec.is_negative && dec.whole == 0) {
        const int64_t parts = (60 * dec.minutes + dec.seconds) * DEC_PARTS + dec.part;
        to = format_add(to, (double)-parts / (3600.0 * DEC_PARTS));
        return format_add_text(to, " 0 0");
    }
    return sexagesimal_add(format_add_text(to, dec.is_negative ? "-" : ""), &dec, " ", DEC_PARTS);
}

/* eX and eY are half of the FWHM. The angle eP of the major axis is 0 in the west, where the angle
 * of a catalogue is -90 degrees. A spectral index is the same with natural logarithms. */
static char *add_row(const struct sky_row *row, char *to) {
    const double radian = M_PI / 180, least = LEAST_AXIS * row->major;
    const double shape[] = {row->major * radian / 2, fmax(row->minor, least) * radian / 2,
                            row->major > 0 ? (row->angle - 90) * radian : 0};
    const struct sexagesimal ra = sexagesimal_hours(row->lon, RA_PARTS);
    to = sexagesimal_add(format_add_text(add_name(row, to), " "), &ra, " ", RA_PARTS);
    to = add_declination(format_add_text(to, " "), row->lat);
    to = format_add(format_add_text(to, " "), row->flux);
    to = format_add(format_add_text(to, " 0 0 0 "), row->index);
    to = format_add_text(to, " 0");
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        to = format_add(format_add_text(to, " "), shape[i]);
    to = format_add(format_add_text(to, " "), row->frequency);
    return format_add_text(to, "\n");
}

static size_t sagecal_rows(const struct table *table, const struct rows *rows, char *text) {
    char *to = text;
    (void)table;
    for (int64_t i = 0; i < rows->n; i++)
        to = add_row(sky_model_row(rows, i), to);
    return (size_t)(to - text);
}

/* Writes a cluster for each patch, with its number, or cluster 1 for all. Each cluster has one
 * solution at a time. */
static void sagecal_clusters(const struct table *model, FILE *stream) {
    const struct sky_row *rows = model->rows;
    char name[ROW_BYTES];
    fputs("# srcfind clusters for SAGECal: cluster_id chunk_size names\n", stream);
    for (int64_t i = 0; i < model->n_rows; i++) {
        const struct sky_row *row = &rows[i];
        const long long patch = sky_model_patch(&model->of->options, row);
        if (row->begins_patch)
            fprintf(stream, "%s%lld 1", i > 0 ? "\n" : "", patch ? patch : 1);
        *add_name(row, name) = '\0';
        fprintf(stream, " %s", name);
    }
    if (model->n_rows > 0)
        fputs("\n", stream);
}

static const char *const suffixes[] = {".sagecal", NULL};
static const struct beside clusters = {".cluster", "list of clusters", sagecal_clusters};

const struct writer sagecal_writer = {
    .format = {"sagecal", suffixes},
    .about = "sky model of SAGECal, with a list of clusters",
    .is_sky_model = true,
    .ends = {"# srcfind sky model for SAGECal", "\n"},
    .begin = sagecal_begin,
    .rows = {sagecal_rows, ROW_BYTES},
    .beside = &clusters,
};
