#include "output/bin_table.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "input/units.h"
#include "output/catalogue.h"
#include "output/completeness.h"
#include "output/reliability.h"

enum { KIND_TEXT = 5 };

/* A row, as writers take it; those of reliability are struct reliability_bin. */
struct completeness_row {
    char kind[KIND_TEXT];
    struct completeness_bin bin;
};

struct injection_row {
    struct injection source;
    int64_t found;
    double area;
};

struct bin_rows {
    struct srcfind_catalogue catalogue;
    struct row_store store;
    void *rows;
};

/* --- columns --- */

static const struct entry {
    enum bin_table table;
    const char *name, *unit, *ucd;
    size_t offset;
    enum srcfind_kind kind;
    size_t width;
    const char *description;
} entries[] = {
#define INTEGER SRCFIND_INTEGER, 8
#define REAL SRCFIND_REAL, 8
#define TEXT(longest) SRCFIND_STRING, longest
#define COMPLETENESS(name, unit, ucd, member, cell, description)                                   \
    {BINS_COMPLETENESS, name, unit, ucd, offsetof(struct completeness_row, member), cell,          \
     description},
#define RELIABILITY(name, unit, ucd, member, cell, description)                                    \
    {BINS_RELIABILITY, name, unit, ucd, offsetof(struct reliability_bin, member), cell,            \
     description},
#define INJECTION(name, unit, ucd, member, cell, description)                                      \
    {BINS_INJECTIONS, name, unit, ucd, offsetof(struct injection_row, member), cell, description},
#include "output/bin_columns.inc"
#undef INTEGER
#undef REAL
#undef TEXT
#undef COMPLETENESS
#undef RELIABILITY
#undef INJECTION
};

_Static_assert(sizeof(struct completeness_row) <= sizeof(union stored_row) &&
                   sizeof(struct reliability_bin) <= sizeof(union stored_row) &&
                   sizeof(struct injection_row) <= sizeof(union stored_row),
               "there is room for a row");

static void name_columns(struct srcfind_catalogue *c, enum bin_table table) {
    c->n_columns = 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct entry *e = &entries[i];
        if (e->table != table)
            continue;
        const char *unit = catalogue_unit(e->unit, &c->image);
        c->columns[c->n_columns++] = (struct column){
            .shown = {e->name, unit, e->ucd, e->description, e->kind, units_vounit(unit)},
            .offset = e->offset,
            .width = e->width};
    }
}

/* --- rows --- */

/* Of an image the bins of S/N and of flux; of a merged catalogue those of flux. False where memory
 * ran out. */
static bool make_completeness(struct bin_rows *r, const struct srcfind_catalogue *catalogue) {
    struct completeness c;
    bool ok = completeness_count(&catalogue->injections, &c);
    const int n_snr = catalogue_is_merged(catalogue) ? 0 : c.n_snr;
    struct completeness_row *rows =
        ok ? calloc((size_t)(n_snr + c.n_flux) + 1, sizeof *rows) : NULL;
    ok = rows;
    for (int i = 0; ok && i < n_snr; i++)
        rows[i] = (struct completeness_row){"snr", c.snr[i]};
    for (int i = 0; ok && i < c.n_flux; i++)
        rows[n_snr + i] = (struct completeness_row){"flux", c.flux[i]};
    r->rows = rows;
    r->store.row_bytes = sizeof *rows;
    r->catalogue.n_sources = n_snr + c.n_flux;
    completeness_clear(&c);
    return ok;
}

/* The same for bins of reliability. */
static bool make_reliability(struct bin_rows *r, const struct srcfind_catalogue *catalogue) {
    struct reliability_bin *rows = malloc(RELIABILITY_BINS * sizeof *rows);
    if (rows)
        reliability_count(catalogue, rows);
    r->rows = rows;
    r->store.row_bytes = sizeof *rows;
    r->catalogue.n_sources = RELIABILITY_BINS;
    return rows;
}

/* The same for injected sources. */
static bool make_injections(struct bin_rows *r, const struct srcfind_catalogue *catalogue) {
    const struct injections *list = &catalogue->injections;
    struct injection_row *rows = calloc((size_t)list->n + 1, sizeof *rows);
    for (int64_t i = 0; rows && i < list->n; i++) {
        struct injection_row *row = &rows[i];
        *row =
            (struct injection_row){list->all[i], list->all[i].is_found, catalogue->injected_area};
        if (!row->source.is_added)
            row->source.flux = row->source.x = row->source.y = NAN;
        if (!row->source.is_found)
            row->source.ratio = row->source.dx = row->source.dy = NAN;
    }
    r->rows = rows;
    r->store.row_bytes = sizeof *rows;
    r->catalogue.n_sources = list->n;
    return rows;
}

static bool make_rows(struct bin_rows *r, const struct srcfind_catalogue *catalogue,
                      enum bin_table table) {
    return table == BINS_COMPLETENESS  ? make_completeness(r, catalogue)
           : table == BINS_RELIABILITY ? make_reliability(r, catalogue)
                                       : make_injections(r, catalogue);
}

static bool read_rows(void *context, int64_t first, int64_t n, void *rows,
                      const struct row_image **images) {
    static const struct row_image none;
    const struct bin_rows *r = context;
    const size_t size = r->store.row_bytes;
    memcpy(rows, (const char *)r->rows + (size_t)first * size, (size_t)n * size);
    for (int64_t i = 0; i < n; i++)
        images[i] = &none;
    return true;
}

/* Of a merged catalogue. */
static bool write_images(void *context, FILE *stream) {
    const struct bin_rows *r = context;
    const struct row_store *store = r->catalogue.of_sources->store;
    return store->write_images(store->context, stream);
}

const struct srcfind_catalogue *catalogue_bins(struct srcfind_catalogue *catalogue,
                                               enum bin_table table) {
    static const char *const kinds[] = {[BINS_COMPLETENESS] = "completeness_bins",
                                        [BINS_RELIABILITY] = "reliability_bins",
                                        [BINS_INJECTIONS] = "injections"};
    if (catalogue->bins[table])
        return &catalogue->bins[table]->catalogue;
    struct bin_rows *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct bin_rows){
        .catalogue = *catalogue,
        .store = {.context = r,
                  .path_bytes = 1,
                  .date_bytes = 1,
                  .read = read_rows,
                  .write_images = catalogue_is_merged(catalogue) ? write_images : NULL}};
    if (!make_rows(r, catalogue, table)) {
        bin_rows_free(r);
        return NULL;
    }
    r->catalogue.of_sources = catalogue;
    r->catalogue.kind = kinds[table];
    r->catalogue.sources = NULL;
    r->catalogue.n_negative = 0;
    r->catalogue.store = &r->store;
    name_columns(&r->catalogue, table);
    catalogue->bins[table] = r;
    return &r->catalogue;
}

void bin_rows_free(struct bin_rows *r) {
    if (r)
        free(r->rows);
    free(r);
}
