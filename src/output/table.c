#include "output/table.h"

#include <stdlib.h>

const struct table_words table_words[TABLE_KINDS] = {
    [TABLE_OF_SOURCES] = {"sources", "catalogue"},
    [TABLE_OF_GAUSSIANS] = {"gaussians", "table"},
    [TABLE_OF_ISLANDS] = {"islands", "table"},
    [TABLE_OF_COVARIANCES] = {"covariances", "table"},
    [TABLE_OF_PLANES] = {"planes", "table"},
    [TABLE_OF_COMPLETENESS] = {"completeness_bins", "table"},
    [TABLE_OF_RELIABILITY] = {"reliability_bins", "table"},
    [TABLE_OF_INJECTIONS] = {"injections", "table"},
    [TABLE_OF_CHOSEN] = {"sources", "catalogue"},
    [TABLE_OF_SKY_MODEL] = {"sources", "catalogue"}};

struct table table_of(const struct result *result, enum table_kind kind) {
    return (struct table){.of = result, .kind = kind, .owned = {NULL, free}};
}

static bool read_in_order(void *context, int64_t first, int64_t n, void *rows,
                          const struct row_image **images) {
    const struct sources *sources = context;
    struct srcfind_source *row = rows;
    for (int64_t i = 0; i < n; i++) {
        row[i] = sources->rows[sources_place(sources, first + i)];
        images[i] = NULL;
    }
    return true;
}

struct table table_of_sources(const struct result *result) {
    struct table table = table_of(result, TABLE_OF_SOURCES);
    const struct column_facts facts = column_facts_of(&result->options, &result->image);
    columns_add(&table.columns, &facts, TABLE_OF_SOURCES);
    if (result->sources.order)
        table.store = (struct row_store){(void *)&result->sources, read_in_order};
    else
        table.rows = result->sources.rows;
    table.n_rows = result->sources.n;
    table.row_bytes = sizeof *result->sources.rows;
    return table;
}

bool table_of_gaussians(const struct result *result, struct table *table) {
    *table = table_of(result, TABLE_OF_GAUSSIANS);
    const struct column_facts facts = column_facts_of(&result->options, &result->image);
    columns_add(&table->columns, &facts, TABLE_OF_GAUSSIANS);
    table->rows = table->owned.memory = sources_list_gaussians(&result->sources, &table->n_rows);
    table->row_bytes = sizeof(struct srcfind_source);
    return table->rows;
}

void table_clear(struct table *table) {
    table->owned.free(table->owned.memory);
}

bool table_read(const struct table *table, int64_t first, int64_t n, void *room,
                const struct row_image **images, struct rows *rows) {
    const char *in_memory = table->rows;
    *rows = (struct rows){.first = room,
                          .row_bytes = table->row_bytes,
                          .images = images,
                          .n = n,
                          .are_last = first + n == table->n_rows};
    if (in_memory) {
        rows->first = in_memory + (size_t)first * table->row_bytes;
        return true;
    }
    return table->store.read(table->store.context, first, n, room, images);
}
