#include "output/plane_table.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/texts.h"
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
    size_t width; /* 0: of the row's image */
    const char *description;
} entries[] = {
#define INTEGER SRCFIND_INTEGER, 8
#define REAL SRCFIND_REAL, 8
#define TEXT(longest) SRCFIND_STRING, longest
#define COLUMN(name, unit, ucd, member, cell, description)                                         \
    {name, unit, ucd, offsetof(struct plane_row, member), cell, description},
#define IMAGE_COLUMN(name, ucd, member, description)                                               \
    {name, NULL, ucd, offsetof(struct row_image, member), SRCFIND_STRING, 0, description},
#include "output/plane_columns.inc"
#undef INTEGER
#undef REAL
#undef TEXT
#undef COLUMN
#undef IMAGE_COLUMN
};

static size_t width_of(const struct entry *e, const struct row_store *store) {
    if (e->width > 0)
        return e->width;
    return e->offset == offsetof(struct row_image, path) ? store->path_bytes : store->date_bytes;
}

_Static_assert(sizeof(struct plane_row) <= sizeof(union stored_row), "there is room for a row");

static void name_columns(struct srcfind_catalogue *c) {
    c->n_columns = sizeof entries / sizeof *entries;
    for (int i = 0; i < c->n_columns; i++) {
        const struct entry *e = &entries[i];
        const char *unit = catalogue_unit(e->unit, &c->image);
        c->columns[i] = (struct column){
            .shown = {e->name, unit, e->ucd, e->description, e->kind, units_vounit(unit)},
            .offset = e->offset,
            .width = width_of(e, c->store),
            .of_image = e->width == 0};
    }
}

/* --- rows --- */

struct plane_rows {
    struct srcfind_catalogue catalogue;
    struct row_store store;
    const struct plane_table *table;
    const struct srcfind_source *sources;
    char **paths;             /* those of the table, as they are shown */
    struct row_image *images; /* of each plane */
};

/* Puts rows together: row i is that of source i / n and plane i % n. */
static bool read_rows(void *context, int64_t first, int64_t n, void *rows,
                      const struct row_image **images) {
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
        images[i] = &r->images[at];
    }
    return true;
}

/* Sets what is shown of the images. False where memory ran out. */
static bool show_images(struct plane_rows *r, struct plane_table *t) {
    r->paths = calloc((size_t)t->n_paths + 1, sizeof *r->paths);
    r->images = calloc((size_t)t->n + 1, sizeof *r->images);
    if (!r->paths || !r->images)
        return false;
    for (int i = 0; i < t->n_paths; i++) {
        if (!(r->paths[i] = texts_clean(t->paths[i])))
            return false;
        texts_count(r->paths[i], &r->store.path_bytes);
    }
    for (int64_t i = 0; i < t->n; i++) {
        r->images[i] = (struct row_image){.path = r->paths[t->planes[i].file],
                                          .date_obs = t->planes[i].date_obs};
        texts_count(t->planes[i].date_obs, &r->store.date_bytes);
    }
    return true;
}

const struct srcfind_catalogue *catalogue_planes(struct srcfind_catalogue *catalogue) {
    struct plane_table *t = &catalogue->planes;
    if (catalogue->plane_rows)
        return &catalogue->plane_rows->catalogue;
    struct plane_rows *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct plane_rows){.catalogue = *catalogue,
                             .store = {.context = r,
                                       .row_bytes = sizeof(struct plane_row),
                                       .path_bytes = 1,
                                       .date_bytes = 1,
                                       .read = read_rows},
                             .table = t,
                             .sources = catalogue->sources};
    if (!show_images(r, t)) {
        plane_rows_free(r);
        return NULL;
    }
    r->catalogue.of_sources = catalogue;
    r->catalogue.kind = "planes";
    r->catalogue.sources = NULL;
    r->catalogue.n_sources = t->n * t->n_sources;
    r->catalogue.n_negative = 0;
    r->catalogue.store = &r->store;
    name_columns(&r->catalogue);
    catalogue->plane_rows = r;
    return &r->catalogue;
}

void plane_rows_free(struct plane_rows *r) {
    for (int i = 0; r && r->paths && i < r->table->n_paths; i++)
        free(r->paths[i]);
    if (r) {
        free(r->paths);
        free(r->images);
    }
    free(r);
}
