#include "output/catalogue.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/format_double.h"

/* A number that is shared is mostly the same in all rows, as the noise is. */
enum kind { INTEGER, REAL, SHARED_REAL, TEXT };

/* Names that depend on the image's frame, and units that depend on its map unit, are resolved in
 * catalogue_column(). */
static const struct {
    const char *name, *unit, *ucd;
    size_t offset;
    enum kind kind;
    const char *description;
} columns[] = {
#define COLUMN(name, unit, ucd, member, kind, description)                                         \
    {name, unit, ucd, offsetof(struct srcfind_source, member), kind, description},
#include "output/columns.inc"
#undef COLUMN
};

int catalogue_columns(void) {
    return (int)(sizeof columns / sizeof *columns);
}

bool catalogue_is_text(int i) {
    return columns[i].kind == TEXT;
}

/* --- what depends on the image --- */

/* Columns of longitude and latitude, by the name of the longitude; those without a name of their
 * own are plain ones. */
static const struct {
    const char *column, *frame, *name, *ucd;
} sky_columns[] = {
    {"RA", "GLON", "GLON", "pos.galactic.lon;meta.main"},
    {"DEC", "GLON", "GLAT", "pos.galactic.lat;meta.main"},
    {"E_RA", "GLON", "E_GLON", "stat.error;pos.galactic.lon"},
    {"E_DEC", "GLON", "E_GLAT", "stat.error;pos.galactic.lat"},
    {"RA", "ELON", "ELON", "pos.ecliptic.lon;meta.main"},
    {"DEC", "ELON", "ELAT", "pos.ecliptic.lat;meta.main"},
    {"E_RA", "ELON", "E_ELON", "stat.error;pos.ecliptic.lon"},
    {"E_DEC", "ELON", "E_ELAT", "stat.error;pos.ecliptic.lat"},
    {"RA", "SLON", "SLON", "pos.supergalactic.lon;meta.main"},
    {"DEC", "SLON", "SLAT", "pos.supergalactic.lat;meta.main"},
    {"E_RA", "SLON", "E_SLON", "stat.error;pos.supergalactic.lon"},
    {"E_DEC", "SLON", "E_SLAT", "stat.error;pos.supergalactic.lat"},
    {"RA", "", "LON", "pos.bodyrc.lon;meta.main"},
    {"DEC", "", "LAT", "pos.bodyrc.lat;meta.main"},
    {"E_RA", "", "E_LON", "stat.error;pos.bodyrc.lon"},
    {"E_DEC", "", "E_LAT", "stat.error;pos.bodyrc.lat"},
};

static const char *resolve_unit(const char *unit, const struct srcfind_image *image) {
    if (unit && strcmp(unit, "map") == 0)
        unit = image->unit;
    else if (unit && strcmp(unit, "flux") == 0)
        unit = image->flux_unit;
    return unit && *unit ? unit : NULL;
}

struct srcfind_column catalogue_column(const struct srcfind_catalogue *catalogue, int i) {
    struct srcfind_column column = {columns[i].name,
                                    resolve_unit(columns[i].unit, &catalogue->image),
                                    columns[i].ucd, columns[i].description};
    const char *lon = catalogue->image.lon_name;
    if (!*lon || strcmp(lon, "RA") == 0)
        return column;
    for (size_t j = 0; j < sizeof sky_columns / sizeof *sky_columns; j++) {
        if (strcmp(column.name, sky_columns[j].column) == 0 &&
            (strcmp(lon, sky_columns[j].frame) == 0 || !*sky_columns[j].frame)) {
            column.name = sky_columns[j].name;
            column.ucd = sky_columns[j].ucd;
            break;
        }
    }
    return column;
}

/* --- cells --- */

static inline int write_cell(const struct srcfind_source *source, int i, char *text) {
    const char *at = (const char *)source + columns[i].offset;
    int64_t integer;
    double real;
    size_t length;
    text[0] = '\0';
    switch (columns[i].kind) {
    case INTEGER:
        memcpy(&integer, at, sizeof integer);
        return number_write_integer(integer, text);
    case REAL:
    case SHARED_REAL:
        memcpy(&real, at, sizeof real);
        return isfinite(real) ? number_write(real, text) : 0;
    case TEXT:
        length = strlen(at);
        memcpy(text, at, length + 1);
        return (int)length;
    }
    return 0;
}

int catalogue_cell(const struct srcfind_source *source, int i, char *text) {
    return write_cell(source, i, text);
}

static inline bool is_as_before(const struct srcfind_source *row, int i) {
    const char *at = (const char *)row + columns[i].offset;
    return columns[i].kind == SHARED_REAL &&
           memcmp(at, at - sizeof(struct srcfind_source), sizeof(double)) == 0;
}

size_t catalogue_write_line(const struct srcfind_source *row, const struct catalogue_line *before,
                            struct catalogue_line *line) {
    const int n = catalogue_columns();
    size_t length = 0;
    for (int i = 0; i < n; i++) {
        line->start[i] = length;
        if (before && is_as_before(row, i)) {
            const size_t start = before->start[i], count = before->start[i + 1] - start;
            memcpy(line->text + length, before->text + start, count);
            length += count;
        } else {
            length += (size_t)write_cell(row, i, line->text + length);
            line->text[length++] = i + 1 < n ? ',' : '\n';
        }
    }
    line->start[n] = length;
    return length;
}
