#include "output/bin_table.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "output/completeness.h"
#include "output/reliability.h"

enum { KIND_TEXT = 5 };

static const char ENTRY_ID[] = "Entry_id";

/* A row of completeness, as writers take it. Rows of reliability are struct reliability_bin. */
struct completeness_row {
    char kind[KIND_TEXT];
    struct completeness_bin bin;
};

struct injection_row {
    struct injection source;
    int64_t found;
    double area;
    char entry_id[SRCFIND_CELL]; /* of a source of a file, in a column that others do not have */
};

/* --- columns --- */

static const struct column_entry entries[] = {
#define INTEGER SRCFIND_INTEGER, 8
#define REAL SRCFIND_REAL, 8
#define TEXT(longest) SRCFIND_STRING, longest
#define COMPLETENESS(name, unit, ucd, member, cell, description)                                   \
    {TABLE_OF_COMPLETENESS,                                                                        \
     name,                                                                                         \
     unit,                                                                                         \
     ucd,                                                                                          \
     offsetof(struct completeness_row, member),                                                    \
     cell,                                                                                         \
     description},
#define RELIABILITY(name, unit, ucd, member, cell, description)                                    \
    {TABLE_OF_RELIABILITY, name, unit, ucd, offsetof(struct reliability_bin, member), cell,        \
     description},
#define INJECTION(name, unit, ucd, member, cell, description)                                      \
    {TABLE_OF_INJECTIONS, name, unit, ucd, offsetof(struct injection_row, member), cell,           \
     description},
#include "output/bin_columns.inc"
};

/* --- rows --- */

/* Allocates n rows of zeros. */
static void *make_rows(struct table *table, int64_t n, size_t size) {
    table->n_rows = n;
    table->row_bytes = size;
    table->rows = table->owned.memory = calloc((size_t)n + 1, size);
    return table->owned.memory;
}

/* Makes the bins of S/N and of flux; for many images the bins of flux alone. */
static bool make_completeness(struct table *table) {
    struct completeness c;
    const bool ok = completeness_count(&table->of->injections, &c);
    const int n_snr = table->images.n > 0 ? 0 : c.n_snr;
    struct completeness_row *rows = ok ? make_rows(table, n_snr + c.n_flux, sizeof *rows) : NULL;
    for (int i = 0; rows && i < n_snr; i++)
        rows[i] = (struct completeness_row){"snr", c.snr[i]};
    for (int i = 0; rows && i < c.n_flux; i++)
        rows[n_snr + i] = (struct completeness_row){"flux", c.flux[i]};
    completeness_clear(&c);
    return rows;
}

static bool make_reliability(struct table *table) {
    struct reliability_bin *rows = make_rows(table, RELIABILITY_BINS, sizeof *rows);
    if (rows)
        reliability_count(table->of, rows);
    return rows;
}

static bool make_injections(struct table *table) {
    const struct injections *list = &table->of->injections;
    struct injection_row *rows = make_rows(table, list->n, sizeof *rows);
    for (int64_t i = 0; rows && i < list->n; i++) {
        struct injection_row *row = &rows[i];
        *row = (struct injection_row){list->all[i], list->all[i].is_found, list->area, ""};
        if (list->entry_id)
            memcpy(row->entry_id, list->entry_id[i], sizeof row->entry_id);
        if (!row->source.is_added)
            row->source.flux = row->source.x = row->source.y = NAN;
        if (!row->source.is_added && list->entry_id)
            row->source.width = row->source.snr = NAN;
        if (!row->source.is_found)
            row->source.ratio = row->source.dx = row->source.dy = row->source.flux_pull =
                row->source.x_pull = row->source.y_pull = NAN;
    }
    return rows;
}

static void begin(const struct result *result, enum table_kind kind, struct table *table) {
    const struct column_facts facts = column_facts_of(&result->options, &result->image);
    *table = table_of(result, kind);
    columns_add_entries(&table->columns, &facts, kind, entries, sizeof entries / sizeof *entries);
    if (!*result->options.inject)
        columns_remove(&table->columns, ENTRY_ID);
}

bool bin_table_make(const struct result *result, enum table_kind kind, struct table *table) {
    begin(result, kind, table);
    return kind == TABLE_OF_COMPLETENESS  ? make_completeness(table)
           : kind == TABLE_OF_RELIABILITY ? make_reliability(table)
                                          : make_injections(table);
}

bool bin_table_merged(const struct result *result, const struct merged_images *images,
                      struct table *table) {
    begin(result, TABLE_OF_COMPLETENESS, table);
    table->images = *images;
    return make_completeness(table);
}
