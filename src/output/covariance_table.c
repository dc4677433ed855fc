/* How the table of covariances is made: errors of forced fluxes follow from places, shapes and
 * noise alone (amplitudes.h), and so do their correlations. Each row of the result that has a flux
 * is a place again, as wide as the row says. */
#include "output/covariance_table.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/place_pairs.h"
#include "measure/places.h"

struct covariance_row {
    int64_t id[2];
    char entry_id[2][SRCFIND_CELL];
    double correlation, e_total_flux[2];
};

static const struct column_entry entries[] = {
#define INTEGER SRCFIND_INTEGER, 8
#define REAL SRCFIND_REAL, 8
#define TEXT(longest) SRCFIND_STRING, longest
#define COLUMN(name, unit, ucd, member, cell, description)                                         \
    {TABLE_OF_COVARIANCES, name, unit, ucd, offsetof(struct covariance_row, member), cell,         \
     description},
#include "output/covariance_columns.inc"
#undef INTEGER
#undef REAL
#undef TEXT
#undef COLUMN
};

/* --- places --- */

/* The second moments of the shape that was held at a row, pixels^2. */
static struct tensor moments_of(const struct srcfind_source *row) {
    const double angle = (row->pixel_angle + 90) * M_PI / 90; /* twice that from x */
    const double major = row->pixel_major / FIT_FWHM, minor = row->pixel_minor / FIT_FWHM;
    const struct axes axes = {
        .major = major * major, .minor = minor * minor, .cosine = cos(angle), .sine = sin(angle)};
    return tensor_of_axes(&axes);
}

/* Makes a place of each row that has a flux. Returns their number. */
static int64_t make_places(const struct sources *sources, struct place *places) {
    int64_t n = 0;
    for (int64_t i = 0; i < sources->n_entries; i++) {
        const struct srcfind_source *row = &sources->rows[i];
        const struct tensor moments = moments_of(row);
        if (isfinite(row->total_flux))
            places[n++] = place_make(row->x, row->y, &moments, INFINITY, i);
    }
    return n;
}

/* --- rows --- */

static void set_row(const struct srcfind_source *first, const struct srcfind_source *second,
                    double correlation, struct covariance_row *row) {
    *row = (struct covariance_row){.id = {first->id, second->id},
                                   .correlation = correlation,
                                   .e_total_flux = {first->e_total_flux, second->e_total_flux}};
    memcpy(row->entry_id[0], first->entry_id, sizeof row->entry_id[0]);
    memcpy(row->entry_id[1], second->entry_id, sizeof row->entry_id[1]);
}

/* Puts rows in place of places, the first one first. */
static void order_pair(const struct place *places, struct place_pair *pair) {
    const int64_t a = places[pair->first].row, b = places[pair->second].row;
    pair->first = a < b ? a : b;
    pair->second = a < b ? b : a;
}

static int compare_pairs(const void *a, const void *b) {
    const struct place_pair *left = a, *right = b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return (left->second > right->second) - (left->second < right->second);
}

static bool make_rows(const struct sources *sources, const struct place *places,
                      struct place_pairs *pairs, struct table *table) {
    struct covariance_row *rows = arrays_allocate(pairs->n, sizeof *rows);
    table->rows = table->owned.memory = rows;
    for (int64_t i = 0; i < pairs->n; i++)
        order_pair(places, &pairs->all[i]);
    if (pairs->n > 0)
        qsort(pairs->all, (size_t)pairs->n, sizeof *pairs->all, compare_pairs);
    for (int64_t i = 0; rows && i < pairs->n; i++)
        set_row(&sources->rows[pairs->all[i].first], &sources->rows[pairs->all[i].second],
                pairs->all[i].correlation, &rows[i]);
    table->n_rows = rows ? pairs->n : 0;
    return rows;
}

bool covariance_table_make(const struct result *result, struct table *table) {
    const struct column_facts facts = column_facts_of(&result->options, &result->image);
    const struct sources *sources = &result->sources;
    const struct at_noise *noise = sources->at_noise;
    struct place *places = arrays_allocate(sources->n, sizeof *places);
    struct place_pairs pairs = {0};
    *table = table_of(result, TABLE_OF_COVARIANCES);
    columns_add_entries(&table->columns, &facts, TABLE_OF_COVARIANCES, entries,
                        sizeof entries / sizeof *entries);
    table->row_bytes = sizeof(struct covariance_row);
    const int64_t n = places && noise ? make_places(sources, places) : 0;
    const bool ok =
        places &&
        (n == 0 || place_pairs_find(places, n, &noise->frame, &noise->correlation, &pairs)) &&
        make_rows(sources, places, &pairs, table);
    free(places);
    free(pairs.all);
    return ok;
}
