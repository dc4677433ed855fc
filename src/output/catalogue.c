#include "output/catalogue.h"

#include <stdlib.h>

#include "output/bin_table.h"
#include "output/chosen_table.h"
#include "output/covariance_table.h"
#include "output/island_table.h"
#include "output/plane_table.h"

struct srcfind_catalogue *catalogue_create(void) {
    struct catalogues *all = calloc(1, sizeof *all);
    struct srcfind_catalogue *sources = calloc(1, sizeof *sources);
    if (!all || !sources) {
        free(all);
        free(sources);
        return NULL;
    }
    options_default(&all->result.options);
    all->made[TABLE_OF_SOURCES] = sources;
    sources->all = all;
    catalogue_complete(sources);
    return sources;
}

void catalogue_complete(struct srcfind_catalogue *catalogue) {
    catalogue->table = table_of_sources(&catalogue->all->result);
}

static void destroy_table(struct srcfind_catalogue *catalogue) {
    if (catalogue)
        table_clear(&catalogue->table);
    free(catalogue);
}

void catalogue_destroy(struct srcfind_catalogue *catalogue) {
    struct catalogues *all = catalogue->all;
    for (int kind = 0; kind < TABLE_KINDS; kind++)
        destroy_table(all->made[kind]);
    result_clear(&all->result);
    free(all);
}

static bool make_table(const struct result *result, enum table_kind kind, struct table *table) {
    switch (kind) {
    case TABLE_OF_GAUSSIANS:
        return table_of_gaussians(result, table);
    case TABLE_OF_ISLANDS:
        return island_table_make(result, table);
    case TABLE_OF_COVARIANCES:
        return covariance_table_make(result, table);
    case TABLE_OF_PLANES:
        return plane_table_make(result, table);
    default:
        return bin_table_make(result, kind, table);
    }
}

const struct srcfind_catalogue *catalogue_table(struct srcfind_catalogue *catalogue,
                                                enum table_kind kind) {
    struct catalogues *all = catalogue->all;
    if (all->made[kind])
        return all->made[kind];
    struct srcfind_catalogue *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    made->all = all;
    if (make_table(&all->result, kind, &made->table)) {
        all->made[kind] = made;
        return made;
    }
    destroy_table(made);
    return NULL;
}

enum srcfind_status catalogue_choose(struct srcfind_catalogue *catalogue,
                                     const struct column_list *list,
                                     const struct srcfind_catalogue **table, struct error *error) {
    struct catalogues *all = catalogue->all;
    struct srcfind_catalogue *made = malloc(sizeof *made);
    if (!made)
        return error_memory(error, "choosing columns");
    made->all = all;
    const enum srcfind_status status = chosen_table_make(&all->result, list, &made->table, error);
    if (status != SRCFIND_OK) {
        destroy_table(made);
        return status;
    }
    destroy_table(all->made[TABLE_OF_CHOSEN]);
    *table = all->made[TABLE_OF_CHOSEN] = made;
    return SRCFIND_OK;
}
