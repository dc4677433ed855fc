#include "output/catalogue.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/format_double.h"
#include "input/frame.h"
#include "input/image.h"
#include "input/units.h"
#include "output/selected.h"

/* Which columns there are: of all rows, of sources alone, with --at, with --deblend, with --scales,
 * with --fit and of all rows or of sources alone, and of Gaussians alone. */
enum when {
    ALWAYS,
    SOURCES,
    GIVEN,
    MEASURED,
    DEBLENDED,
    SCALED,
    FITTED,
    FITTED_SOURCES,
    GAUSSIANS
};

/* name_column() replaces names that depend on the image's frame and units that depend on its map
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

/* Descriptions of what columns are with other options. */
static const struct {
    size_t offset;
    const char *fitted, *given, *both;
} otherwise[] = {
#define COLUMN(name, unit, ucd, member, cell, when, description)
#define OTHERWISE(member, fitted, given, both)                                                     \
    {offsetof(struct srcfind_source, member), fitted, given, both},
#define WITH_SCALES(member, description)
#include "output/columns.inc"
#undef OTHERWISE
#undef WITH_SCALES
};

/* And with scales. */
static const struct {
    size_t offset;
    const char *description;
} with_scales[] = {
#define OTHERWISE(member, fitted, given, both)
#define WITH_SCALES(member, description) {offsetof(struct srcfind_source, member), description},
#include "output/columns.inc"
#undef COLUMN
#undef OTHERWISE
#undef WITH_SCALES
};

enum { ENTRIES = sizeof entries / sizeof *entries };

_Static_assert((int)ENTRIES + 2 <= (int)MOST_COLUMNS, "a catalogue has room for all columns");

/* --- what depends on the image --- */

const char *catalogue_unit(const char *unit, const struct srcfind_image *image) {
    if (unit && strcmp(unit, "map") == 0)
        unit = image->unit;
    else if (unit && strcmp(unit, "flux") == 0)
        unit = image->flux_unit;
    else if (unit && strcmp(unit, "size") == 0)
        unit = *image->lon_name ? "deg" : "pix";
    return unit && *unit ? unit : NULL;
}

static struct srcfind_column name_column(const struct srcfind_image *image, const struct entry *e) {
    static const size_t sky_columns[SKY_COLUMNS] = {
        offsetof(struct srcfind_source, lon),     offsetof(struct srcfind_source, lat),
        offsetof(struct srcfind_source, e_lon),   offsetof(struct srcfind_source, e_lat),
        offsetof(struct srcfind_source, lon_max), offsetof(struct srcfind_source, lat_max)};
    const struct frame *frame = frame_of_axis(image->lon_name);
    const char *unit = catalogue_unit(e->unit, image);
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

/* --- what depends on the options --- */

bool catalogue_is_merged(const struct srcfind_catalogue *catalogue) {
    return catalogue->store && catalogue->store->write_images;
}

const char *catalogue_kind(const struct srcfind_catalogue *catalogue) {
    return catalogue->kind ? catalogue->kind : catalogue->of_sources ? "gaussians" : "sources";
}

const char *catalogue_what(const struct srcfind_catalogue *catalogue) {
    return catalogue->of_sources ? "table" : "catalogue";
}

/* Positions that are given (--at) are in no island, which could be divided. */
static bool is_there(enum when when, const struct srcfind_catalogue *c) {
    const struct options *o = &c->options;
    switch (when) {
    case ALWAYS:
        return true;
    case SOURCES:
        return !c->of_sources;
    case GIVEN:
        return *o->at;
    case MEASURED:
        return o->measure_in.n > 0 && !c->of_sources;
    case DEBLENDED:
        return options_deblend(o) && !*o->at;
    case SCALED:
        return o->scales.n > 0;
    case FITTED:
        return options_fit(o);
    case FITTED_SOURCES:
        return options_fit(o) && !c->of_sources;
    case GAUSSIANS:
        return c->of_sources;
    }
    return false;
}

static const char *describe(const struct entry *e, const struct options *o) {
    for (size_t i = 0; o->scales.n > 0 && i < sizeof with_scales / sizeof *with_scales; i++)
        if (with_scales[i].offset == e->offset)
            return with_scales[i].description;
    const bool is_fit = options_fit(o);
    for (size_t i = 0; (is_fit || *o->at) && i < sizeof otherwise / sizeof *otherwise; i++)
        if (otherwise[i].offset == e->offset)
            return !*o->at ? otherwise[i].fitted : is_fit ? otherwise[i].both : otherwise[i].given;
    return e->description;
}

/* Adds the columns that only merged catalogues have. */
static void add_image_columns(struct srcfind_catalogue *catalogue) {
    const struct row_store *store = catalogue->store;
    const struct column columns[] = {
        {.shown = {"Image", NULL, "meta.id;meta.file", "path of the image", SRCFIND_STRING, NULL},
         .offset = offsetof(struct row_image, path),
         .width = store->path_bytes,
         .of_image = true},
        {.shown = {"Date_obs", NULL, "time.start;obs", "date of the observation of the image",
                   SRCFIND_STRING, NULL},
         .offset = offsetof(struct row_image, date_obs),
         .width = store->date_bytes,
         .of_image = true},
        {.shown = {"Plane", NULL, "meta.number", "plane of the image, as --plane has it",
                   SRCFIND_STRING, NULL},
         .offset = offsetof(struct row_image, plane),
         .width = store->plane_bytes,
         .of_image = true},
        {.shown = {"Frequency", "Hz", "em.freq", "frequency of the image", SRCFIND_REAL, "Hz"},
         .offset = offsetof(struct row_image, frequency),
         .width = sizeof(double),
         .of_image = true}};
    const int n = store->plane_bytes > 0 ? 4 : 2;
    for (int i = 0; i < n; i++)
        catalogue->columns[catalogue->n_columns++] = columns[i];
}

void catalogue_name_columns(struct srcfind_catalogue *catalogue) {
    const struct options *o = &catalogue->options;
    const bool has_empty = options_fit(o) || *o->at; /* else each source has pixels */
    catalogue->n_columns = 0;
    if (catalogue_is_merged(catalogue))
        add_image_columns(catalogue);
    for (int i = 0; i < ENTRIES; i++) {
        if (!is_there(entries[i].when, catalogue))
            continue;
        struct column *column = &catalogue->columns[catalogue->n_columns++];
        *column = (struct column){.shown = name_column(&catalogue->image, &entries[i]),
                                  .offset = entries[i].offset,
                                  .width = entries[i].cell.width,
                                  .may_be_empty = entries[i].cell.is_optional && has_empty};
        column->shown.description = describe(&entries[i], o);
    }
}

/* --- cells --- */

/* The value that the row, or its image, has. */
static union cell_value value_of_row(const struct rows *rows, int64_t row,
                                     const struct column *column) {
    const char *of = column->of_image ? (const char *)rows->images[row]
                                      : (const char *)rows->first + (size_t)row * rows->row_bytes;
    const char *at = of + column->offset;
    union cell_value value = {.text = at};
    if (column->of_image && column->shown.kind == SRCFIND_STRING) {
        memcpy(&value.text, at, sizeof value.text);
        value.text = value.text ? value.text : "";
    } else if (column->shown.kind == SRCFIND_INTEGER)
        memcpy(&value.integer, at, sizeof value.integer);
    else if (column->shown.kind == SRCFIND_REAL)
        memcpy(&value.real, at, sizeof value.real);
    return value;
}

union cell_value catalogue_value(const struct rows *rows, int64_t row,
                                 const struct column *column) {
    union cell_value value = column->constant ? *column->constant : value_of_row(rows, row, column);
    if (column->factor != 0)
        value.real *= column->factor;
    else if (column->divisor != 0)
        value.real /= column->divisor;
    return value;
}

int catalogue_cell(const struct rows *rows, int64_t row, const struct column *column, char *text) {
    const union cell_value value = catalogue_value(rows, row, column);
    size_t length;
    text[0] = '\0';
    switch (column->shown.kind) {
    case SRCFIND_INTEGER:
        return value.integer != SRCFIND_EMPTY ? format_integer(value.integer, text) : 0;
    case SRCFIND_REAL:
        return isfinite(value.real) ? format_double(value.real, text) : 0;
    case SRCFIND_STRING:
        length = strlen(value.text);
        memcpy(text, value.text, length + 1);
        return (int)length;
    }
    return 0;
}

/* --- notes --- */

const char *catalogue_note(const struct srcfind_catalogue *catalogue, int i) {
    const char *note = i < 0 ? NULL : catalogue->notes;
    for (; note && *note && i > 0; i--)
        note += strlen(note) + 1;
    return note && *note ? note : NULL;
}

/* --- Gaussians --- */

/* Puts the Gaussians of a source at row n; parts: those of sources that have several, from the next
 * one on. Returns how many they are. */
static int64_t put_gaussians(const struct srcfind_source *source,
                             const struct srcfind_source *parts, struct srcfind_source *rows,
                             int64_t n) {
    const int64_t several = source->n_gaussians > 1 ? source->n_gaussians : 0;
    for (int64_t i = 0; i < (several ? several : 1); i++) {
        rows[n + i] = several ? parts[i] : *source;
        rows[n + i].gaussian_id = n + i + 1;
    }
    return several;
}

struct srcfind_source *catalogue_list_gaussians(const struct srcfind_catalogue *catalogue,
                                                int64_t *n) {
    int64_t n_parts = 0;
    *n = 0;
    for (int64_t i = 0; i < catalogue->n_sources; i++)
        *n += catalogue->sources[i].n_gaussians;
    struct srcfind_source *rows = malloc((size_t)*n * sizeof *rows + 1);
    for (int64_t i = 0, k = 0; rows && i < catalogue->n_sources; i++) {
        const struct srcfind_source *source = &catalogue->sources[i];
        n_parts += put_gaussians(source, catalogue->parts + n_parts, rows, k);
        k += source->n_gaussians;
    }
    return rows;
}

const struct srcfind_catalogue *catalogue_gaussians(struct srcfind_catalogue *catalogue) {
    struct srcfind_catalogue *table = malloc(sizeof *table);
    int64_t n;
    struct srcfind_source *rows = catalogue_list_gaussians(catalogue, &n);
    if (!table || !rows) {
        free(table);
        free(rows);
        return NULL;
    }
    *table = *catalogue;
    table->of_sources = catalogue;
    table->sources = rows;
    table->n_sources = n;
    table->n_negative = 0;
    for (int64_t i = 0; i < catalogue->n_sources; i++)
        if (catalogue->sources[i].flags & SRCFIND_FLAG_NEGATIVE)
            table->n_negative += catalogue->sources[i].n_gaussians;
    catalogue_name_columns(table);
    catalogue->gaussian_rows = table;
    return table;
}

void catalogue_clear(struct srcfind_catalogue *catalogue) {
    if (catalogue->gaussian_rows)
        free(catalogue->gaussian_rows->sources);
    free(catalogue->gaussian_rows);
    plane_rows_free(catalogue->plane_rows);
    for (int table = 0; table < BIN_TABLES; table++)
        bin_rows_free(catalogue->bins[table]);
    selected_free(catalogue->selected);
    plane_table_clear(&catalogue->planes);
    free(catalogue->injections.all);
    options_clear(&catalogue->options);
    free(catalogue->header);
    free(catalogue->notes);
    free(catalogue->parts);
    image_clear_metadata(&catalogue->image);
    free(catalogue->sources);
    free(catalogue->gaussians);
    for (int kind = 0; kind < LABEL_KINDS; kind++)
        labels_clear(&catalogue->labels[kind]);
    noise_map_clear(&catalogue->noise);
    noise_map_clear(&catalogue->detection_noise);
    blanks_destroy(catalogue->blanks);
}
