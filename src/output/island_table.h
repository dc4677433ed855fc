/* The table of islands: a row for each island that has sources. */
#ifndef ISLAND_TABLE_H
#define ISLAND_TABLE_H

#include "output/table.h"

/* Makes the table of a result, which has its sources and was not found with --at. Clear the table
 * also if this fails. */
bool island_table_make(const struct result *result, struct table *table);

#endif
