#include "output/catalogue.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/format_double.h"
#include "output/facts.h"

/* name_column() replaces names that depend on the image's frame and units that depend on its map
 * unit. */
static const struct {
    const char *name, *unit, *ucd;
    size_t offset;
    enum srcfind_kind kind;
    const char *description;
} columns[] = {
#define COLUMN(name, unit, ucd, member, kind, description)                                         \
    {name, unit, ucd, offsetof(struct srcfind_source, member), SRCFIND_##kind, description},
#include "output/columns.inc"
#undef COLUMN
};

int catalogue_columns(void) {
    return (int)(sizeof columns / sizeof *columns);
}

enum srcfind_kind catalogue_kind(int i) {
    return columns[i].kind;
}

/* --- what depends on the image --- */

/* Names and UCDs of the coordinate columns by the name of the image's longitude; "" stands for all
 * that are not listed before. */
static const struct {
    const char *column, *frame, *name, *ucd;
} world_columns[] = {
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
    {"RA", "", "LON", "pos.bodyrc.long;meta.main"},
    {"DEC", "", "LAT", "pos.bodyrc.lat;meta.main"},
    {"E_RA", "", "E_LON", "stat.error;pos.bodyrc.long"},
    {"E_DEC", "", "E_LAT", "stat.error;pos.bodyrc.lat"},
};

static const char *resolve_unit(const char *unit, const struct srcfind_image *image) {
    if (unit && strcmp(unit, "map") == 0)
        unit = image->unit;
    else if (unit && strcmp(unit, "flux") == 0)
        unit = image->flux_unit;
    return unit && *unit ? unit : NULL;
}

static struct srcfind_column name_column(const struct srcfind_image *image, int i) {
    const char *unit = resolve_unit(columns[i].unit, image);
    struct srcfind_column column = {columns[i].name, unit,
                                    columns[i].ucd,  columns[i].description,
                                    columns[i].kind, facts_unit(unit)};
    const char *lon = image->lon_name;
    if (!*lon || strcmp(lon, "RA") == 0)
        return column;
    for (size_t j = 0; j < sizeof world_columns / sizeof *world_columns; j++) {
        if (strcmp(column.name, world_columns[j].column) == 0 &&
            (strcmp(lon, world_columns[j].frame) == 0 || !*world_columns[j].frame)) {
            column.name = world_columns[j].name;
            column.ucd = world_columns[j].ucd;
            break;
        }
    }
    return column;
}

void catalogue_name_columns(struct srcfind_catalogue *catalogue) {
    for (int i = 0; i < catalogue_columns(); i++)
        catalogue->columns[i] = name_column(&catalogue->image, i);
}

/* --- cells --- */

union cell_value catalogue_value(const struct srcfind_source *source, int i) {
    const char *at = (const char *)source + columns[i].offset;
    union cell_value value = {.text = at};
    if (columns[i].kind == SRCFIND_INTEGER)
        memcpy(&value.integer, at, sizeof value.integer);
    else if (columns[i].kind == SRCFIND_REAL)
        memcpy(&value.real, at, sizeof value.real);
    return value;
}

int catalogue_cell(const struct srcfind_source *source, int i, char *text) {
    const union cell_value value = catalogue_value(source, i);
    size_t length;
    text[0] = '\0';
    switch (columns[i].kind) {
    case SRCFIND_INTEGER:
        return format_integer(value.integer, text);
    case SRCFIND_REAL:
        return isfinite(value.real) ? format_double(value.real, text) : 0;
    case SRCFIND_STRING:
        length = strlen(value.text);
        memcpy(text, value.text, length + 1);
        return (int)length;
    }
    return 0;
}
