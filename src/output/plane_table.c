#include "output/plane_table.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "input/units.h"
#include "output/catalogue.h"

void plane_table_clear(struct plane_table *t) {
    for (int i = 0; i < t->n_paths; i++)
        free(t->paths[i]);
    free(t->paths);
    free(t->planes);
    free(t->fluxes);
    *t = (struct plane_table){0};
}

/* --- columns --- */

/* unit: "map" and "flux" stand for those of the image. */
static const struct entry {
    const char *name, *unit, *ucd;
    size_t offset;
    enum srcfind_kind kind;
    size_t width;
    const char *description;
} entries[] = {
#define INTEGER SRCFIND_INTEGER, 8
#define REAL SRCFIND_REAL, 8
#define TEXT(longest) SRCFIND_STRING, longest
#define COLUMN(name, unit, ucd, member, cell, description)                                         \
    {name, unit, ucd, offsetof(struct plane_row, member), cell, description},
#define IMAGE_COLUMN(name, ucd, description) {name, NULL, ucd, 0, SRCFIND_STRING, 0, description},
#include "output/plane_columns.inc"
#undef INTEGER
#undef REAL
#undef TEXT
#undef COLUMN
#undef IMAGE_COLUMN
};

static const char *unit_of(const struct entry *e, const struct srcfind_image *image) {
    const char *unit = e->unit;
    if (unit && strcmp(unit, "map") == 0)
        unit = image->unit;
    else if (unit && strcmp(unit, "flux") == 0)
        unit = image->flux_unit;
    return unit && *unit ? unit : NULL;
}

static void name_columns(struct srcfind_catalogue *c) {
    c->n_columns = sizeof entries / sizeof *entries;
    for (int i = 0; i < c->n_columns; i++) {
        const struct entry *e = &entries[i];
        const char *unit = unit_of(e, &c->image);
        const bool is_image = e->width == 0;
        c->columns[i] = (struct column){
            .shown = {e->name, unit, e->ucd, e->description, e->kind, units_vounit(unit)},
            .offset = e->offset,
            .width = is_image ? c->store->image_bytes : e->width,
            .is_image = is_image};
    }
}

/* --- rows --- */

struct plane_rows {
    struct srcfind_catalogue catalogue;
    struct row_store store;
    const struct plane_table *table;
    const struct srcfind_source *sources;
};

/* Puts rows together: row i is that of source i / n and plane i % n. */
static bool read_rows(void *context, int64_t first, int64_t n, void *rows, const char **images) {
    const struct plane_rows *r = context;
    const struct plane_table *t = r->table;
    struct plane_row *row = rows;
    for (int64_t i = 0; i < n; i++) {
        const int64_t source = (first + i) / t->n, at = (first + i) % t->n;
        const struct measured_plane *plane = &t->planes[at];
        row[i] = (struct plane_row){.source_id = r->sources[source].id,
                                    .plane = plane->number,
                                    .frequency = plane->frequency,
                                    .flux = t->fluxes[at * t->n_sources + source]};
        memcpy(row[i].stokes, plane->stokes, sizeof row[i].stokes);
        memcpy(row[i].date_obs, plane->date_obs, sizeof row[i].date_obs);
        images[i] = t->paths[plane->file];
    }
    return true;
}

static size_t longest_path(const struct plane_table *t) {
    size_t longest = 1;
    for (int i = 0; i < t->n_paths; i++) {
        const size_t length = strlen(t->paths[i]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

const struct srcfind_catalogue *catalogue_planes(struct srcfind_catalogue *catalogue) {
    struct plane_rows *r = catalogue->plane_rows;
    const struct plane_table *t = &catalogue->planes;
    if (r)
        return &r->catalogue;
    r = catalogue->plane_rows = malloc(sizeof *r);
    if (!r)
        return NULL;
    r->table = t;
    r->sources = catalogue->sources;
    r->store = (struct row_store){.context = r,
                                  .row_bytes = sizeof(struct plane_row),
                                  .image_bytes = longest_path(t),
                                  .read = read_rows};
    r->catalogue = *catalogue;
    r->catalogue.of_sources = catalogue;
    r->catalogue.sources = NULL;
    r->catalogue.n_sources = t->n * t->n_sources;
    r->catalogue.n_negative = 0;
    r->catalogue.store = &r->store;
    name_columns(&r->catalogue);
    return &r->catalogue;
}

void plane_rows_free(struct plane_rows *rows) {
    free(rows);
}
