/* How a table gets its columns:
 *
 * 1. columns.inc lists all columns of sources and Gaussians in their order, each with its member of
 *    struct srcfind_source, its description, and when it is there: by the options and by the kind
 *    of the table.
 * 2. Columns of sky positions get the names and UCDs of the frame of the image, and the units
 *    `map`, `flux` and `size` become units of the image.
 * 3. Other tables (planes, bins, injections) have lists of their own, and their units are found in
 *    the same way (columns_add_entries).
 *
 * Columns are a function of kind, options, units and frame alone: merged and chosen tables, the
 * reader of catalogues and the command ask for them without a search. No memory is allocated: there
 * is room for all columns. */
#include "output/columns.h"

#include <string.h>

#include "input/frame.h"
#include "input/units.h"

/* When a column is there: always, in tables of sources, with --at, with --at and --fit, with
 * --measure-in in tables of sources, with --deblend, with --scales, with --fit, with --fit in
 * tables of sources, in tables of Gaussians. */
enum when {
    ALWAYS,
    SOURCES,
    GIVEN,
    FORCED,
    MEASURED,
    DEBLENDED,
    SCALED,
    FITTED,
    FITTED_SOURCES,
    GAUSSIANS
};

/* name_column() replaces names that depend on the frame of the image, and units that depend on its
 * unit. */
static const struct entry {
    const char *name, *unit, *ucd;
    size_t offset;
    struct {
        enum srcfind_kind kind;
        size_t width;
        bool is_optional;
    } cell;
    enum when when;
    const char *description;
} entries[] = {
#define INTEGER                                                                                    \
    { SRCFIND_INTEGER, 8, false }
#define OPTIONAL                                                                                   \
    { SRCFIND_INTEGER, 8, true }
#define REAL                                                                                       \
    { SRCFIND_REAL, 8, false }
#define TEXT(longest)                                                                              \
    { SRCFIND_STRING, longest, false }
#define COLUMN(name, unit, ucd, member, cell, when, description)                                   \
    {name, unit, ucd, offsetof(struct srcfind_source, member), cell, when, description},
#define OTHERWISE(member, fitted, given, both)
#define WITH_SCALES(member, description)
#include "output/columns.inc"
#undef INTEGER
#undef OPTIONAL
#undef REAL
#undef TEXT
#undef COLUMN
#undef OTHERWISE
#undef WITH_SCALES
};

/* Other descriptions of columns, with some options. */
static const struct {
    size_t offset;
    const char *fitted, *given, *both, *scaled; /* `scaled` alone, or the others */
} otherwise[] = {
#define COLUMN(name, unit, ucd, member, cell, when, description)
#define OTHERWISE(member, fitted, given, both)                                                     \
    {offsetof(struct srcfind_source, member), fitted, given, both, NULL},
#define WITH_SCALES(member, description)                                                           \
    {offsetof(struct srcfind_source, member), NULL, NULL, NULL, description},
#include "output/columns.inc"
#undef COLUMN
#undef OTHERWISE
#undef WITH_SCALES
};

enum { ENTRIES = sizeof entries / sizeof *entries };

_Static_assert((int)ENTRIES + 2 <= (int)MOST_COLUMNS, "a catalogue has room for all columns");

unsigned column_facts_with(const struct options *o) {
    return (*o->at ? WITH_AT : 0) | (options_deblend(o) ? WITH_DEBLEND : 0) |
           (options_fit(o) ? WITH_FIT : 0) | (o->scales.n > 0 ? WITH_SCALES : 0) |
           (o->measure_in.n > 0 ? WITH_MEASURE_IN : 0);
}

struct column_facts column_facts_of(const struct options *options,
                                    const struct srcfind_image *image) {
    return (struct column_facts){column_facts_with(options), image->unit, image->flux_unit,
                                 image->lon_name};
}

static bool has(const struct column_facts *facts, unsigned option) {
    return (facts->with & option) == option;
}

/* --- names and units, by the image --- */

/* The unit of a column: its own, or the unit of the image that it names; NULL for none. */
static const char *unit_of(const char *unit, const struct column_facts *facts) {
    if (unit && strcmp(unit, "map") == 0)
        unit = facts->unit;
    else if (unit && strcmp(unit, "flux") == 0)
        unit = facts->flux_unit;
    else if (unit && strcmp(unit, "size") == 0)
        unit = *facts->lon_name ? "deg" : "pix";
    return unit && *unit ? unit : NULL;
}

void columns_set_unit(struct srcfind_column *column, const struct column_facts *facts) {
    column->unit = unit_of(column->unit, facts);
    column->vounit = units_vounit(column->unit);
}

static struct srcfind_column name_column(const struct column_facts *facts, const struct entry *e) {
    static const size_t sky_columns[SKY_COLUMNS] = {
        offsetof(struct srcfind_source, lon),     offsetof(struct srcfind_source, lat),
        offsetof(struct srcfind_source, e_lon),   offsetof(struct srcfind_source, e_lat),
        offsetof(struct srcfind_source, lon_max), offsetof(struct srcfind_source, lat_max)};
    const struct frame *frame = frame_of_axis(facts->lon_name);
    const char *unit = unit_of(e->unit, facts);
    struct srcfind_column column = {e->name,        unit,         e->ucd,
                                    e->description, e->cell.kind, units_vounit(unit)};
    for (int i = 0; i < SKY_COLUMNS; i++) {
        if (e->offset == sky_columns[i]) {
            column.name = frame->columns[i];
            column.ucd = frame->ucds[i];
        }
    }
    return column;
}

/* --- columns and descriptions, by the options --- */

/* Rows of --at are in no island, and so have no columns of --deblend. */
static bool is_there(enum when when, const struct column_facts *facts, enum table_kind kind) {
    switch (when) {
    case ALWAYS:
        return true;
    case SOURCES:
        return kind == TABLE_OF_SOURCES;
    case GIVEN:
        return has(facts, WITH_AT);
    case FORCED:
        return has(facts, WITH_AT) && has(facts, WITH_FIT);
    case MEASURED:
        return has(facts, WITH_MEASURE_IN) && kind == TABLE_OF_SOURCES;
    case DEBLENDED:
        return has(facts, WITH_DEBLEND) && !has(facts, WITH_AT);
    case SCALED:
        return has(facts, WITH_SCALES);
    case FITTED:
        return has(facts, WITH_FIT);
    case FITTED_SOURCES:
        return has(facts, WITH_FIT) && kind == TABLE_OF_SOURCES;
    case GAUSSIANS:
        return kind == TABLE_OF_GAUSSIANS;
    }
    return false;
}

static const char *describe(const struct entry *e, const struct column_facts *facts) {
    const bool is_fit = has(facts, WITH_FIT), is_given = has(facts, WITH_AT);
    const char *text = e->description;
    for (size_t i = 0; i < sizeof otherwise / sizeof *otherwise; i++) {
        if (otherwise[i].offset != e->offset)
            continue;
        if (otherwise[i].scaled && has(facts, WITH_SCALES))
            return otherwise[i].scaled;
        if (!otherwise[i].scaled && (is_fit || is_given))
            text = !is_given ? otherwise[i].fitted
                   : is_fit  ? otherwise[i].both
                             : otherwise[i].given;
    }
    return text;
}

void columns_add(struct columns *columns, const struct column_facts *facts, enum table_kind kind) {
    const bool has_empty = has(facts, WITH_FIT) || has(facts, WITH_AT); /* else pixels */
    for (int i = 0; i < ENTRIES; i++) {
        if (!is_there(entries[i].when, facts, kind))
            continue;
        struct column *column = &columns->column[columns->n++];
        *column = (struct column){.shown = name_column(facts, &entries[i]),
                                  .offset = entries[i].offset,
                                  .width = entries[i].cell.width,
                                  .may_be_empty = entries[i].cell.is_optional && has_empty};
        column->shown.description = describe(&entries[i], facts);
    }
}

/* --- other tables --- */

void columns_add_entries(struct columns *columns, const struct column_facts *facts,
                         enum table_kind kind, const struct column_entry *list, size_t n) {
    for (const struct column_entry *e = list; e < list + n; e++) {
        const char *unit = unit_of(e->unit, facts);
        if (e->kind != kind)
            continue;
        columns->column[columns->n++] = (struct column){
            .shown = {e->name, unit, e->ucd, e->description, e->cell, units_vounit(unit)},
            .offset = e->offset,
            .width = e->width,
            .of_image = e->width == 0};
    }
}

void columns_remove(struct columns *columns, const char *name) {
    const int i = columns_find(columns, name);
    if (i < 0)
        return;
    columns->n--;
    memmove(&columns->column[i], &columns->column[i + 1],
            (size_t)(columns->n - i) * sizeof *columns->column);
}

int columns_find(const struct columns *columns, const char *name) {
    for (int i = 0; i < columns->n; i++)
        if (strcmp(columns->column[i].shown.name, name) == 0)
            return i;
    return -1;
}
