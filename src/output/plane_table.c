#include "output/plane_table.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/texts.h"

/* A row, as writers take it. */
struct plane_row {
    int64_t source_id, plane;
    double frequency;
    char stokes[STOKES_TEXT];
    struct plane_flux flux;
};

_Static_assert(sizeof(struct plane_row) <= sizeof(union stored_row), "there is room for a row");

/* --- columns --- */

static const struct column_entry entries[] = {
#define INTEGER SRCFIND_INTEGER, 8
#define REAL SRCFIND_REAL, 8
#define TEXT(longest) SRCFIND_STRING, longest
#define COLUMN(name, unit, ucd, member, cell, description)                                         \
    {TABLE_OF_PLANES, name, unit, ucd, offsetof(struct plane_row, member), cell, description},
#define IMAGE_COLUMN(name, ucd, member, description)                                               \
    {TABLE_OF_PLANES, name, NULL,       ucd, offsetof(struct row_image, member),                   \
     SRCFIND_STRING,  0,    description},
#include "output/plane_columns.inc"
};

/* --- rows --- */

struct plane_rows {
    const struct result *result;
    char **paths;             /* the file of each plane, as tables show it */
    struct row_image *images; /* of each plane */
};

/* Puts rows together: row i has source i / n in plane i % n. */
static bool read_rows(void *context, int64_t first, int64_t n, void *rows,
                      const struct row_image **images) {
    const struct plane_rows *r = context;
    const struct measured_planes *t = &r->result->planes;
    struct plane_row *row = rows;
    for (int64_t i = 0; i < n; i++) {
        const int64_t source = (first + i) / t->n, at = (first + i) % t->n;
        const struct measured_plane *plane = &t->planes[at];
        row[i] = (struct plane_row){.source_id = r->result->sources.rows[source].id,
                                    .plane = plane->number,
                                    .frequency = plane->frequency,
                                    .flux = t->fluxes[at * t->n_sources + source]};
        memcpy(row[i].stokes, plane->stokes, sizeof row[i].stokes);
        images[i] = &r->images[at];
    }
    return true;
}

/* --- what is shown of images --- */

/* Sets the texts of the planes, and the widths of their columns. */
static bool show_images(struct plane_rows *r, struct columns *columns) {
    const struct measured_planes *t = &r->result->planes;
    size_t path_bytes = 1, date_bytes = 1;
    r->paths = calloc((size_t)t->n_paths + 1, sizeof *r->paths);
    r->images = calloc((size_t)t->n + 1, sizeof *r->images);
    if (!r->paths || !r->images)
        return false;
    for (int i = 0; i < t->n_paths; i++) {
        if (!(r->paths[i] = texts_clean(t->paths[i])))
            return false;
        texts_count(r->paths[i], &path_bytes);
    }
    for (int64_t i = 0; i < t->n; i++) {
        r->images[i] = (struct row_image){.path = r->paths[t->planes[i].file],
                                          .date_obs = t->planes[i].date_obs};
        texts_count(t->planes[i].date_obs, &date_bytes);
    }
    for (struct column *c = columns->column; c < columns->column + columns->n; c++)
        if (c->of_image)
            c->width = c->offset == offsetof(struct row_image, path) ? path_bytes : date_bytes;
    return true;
}

static void free_rows(void *memory) {
    struct plane_rows *r = memory;
    for (int i = 0; r->paths && i < r->result->planes.n_paths; i++)
        free(r->paths[i]);
    free(r->paths);
    free(r->images);
    free(r);
}

bool plane_table_make(const struct result *result, struct table *table) {
    const struct column_facts facts = column_facts_of(&result->options, &result->image);
    struct plane_rows *r = calloc(1, sizeof *r);
    *table = table_of(result, TABLE_OF_PLANES);
    if (!r)
        return false;
    r->result = result;
    columns_add_entries(&table->columns, &facts, TABLE_OF_PLANES, entries,
                        sizeof entries / sizeof *entries);
    table->n_rows = result->planes.n * result->planes.n_sources;
    table->row_bytes = sizeof(struct plane_row);
    table->store = (struct row_store){r, read_rows};
    table->owned = (struct owned){r, free_rows};
    return show_images(r, &table->columns);
}
