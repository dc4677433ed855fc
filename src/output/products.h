/* The maps and tables that may stand beside a catalogue. */
#ifndef PRODUCTS_H
#define PRODUCTS_H

#include "output/columns.h"

/* In the order of products.inc: srcfind_map(i) is that of enum map. */
#define MAP(id, name, suffix, quantity, has_unit, needs, about) MAP_##id,
#define TABLE(id, name, what, columns)
enum map {
#include "output/products.inc"
    MAPS
};
#undef MAP
#undef TABLE

#define MAP(id, name, suffix, quantity, has_unit, needs, about)
#define TABLE(id, name, what, columns) TABLE_##id,
enum table_id {
#include "output/products.inc"
    TABLES
};
#undef MAP
#undef TABLE

/* What a map is made of; islands and their parts are not found with --at. */
enum map_needs { NEEDS_NOISE, NEEDS_ISLANDS, NEEDS_PARTS, NEEDS_FIT, NEEDS_INJECTIONS };

extern const struct map_product {
    const char *name, *suffix, *about; /* about: one line of help */
    enum map_needs needs;
} map_products[MAPS];

extern const struct table_product {
    const char *name, *what; /* messages call it so */
    enum table_kind kind;    /* of its rows */
    const char *columns;     /* the first ones, as CSV has them */
} table_products[TABLES];

#endif
