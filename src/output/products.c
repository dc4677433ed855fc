#include "output/products.h"

#define TABLE(id, name, what, columns)
#define MAP(id, name, suffix, quantity, has_unit, needs, about) {name, suffix, about, needs},
const struct map_product map_products[MAPS] = {
#include "output/products.inc"
};
#undef MAP
#undef TABLE

#define MAP(id, name, suffix, quantity, has_unit, needs, about)
#define TABLE(id, name, what, columns) {name, what, TABLE_OF_##id, columns},
const struct table_product table_products[TABLES] = {
#include "output/products.inc"
};
