/* The table of planes: what each source has in each plane of other images. */
#ifndef PLANE_TABLE_H
#define PLANE_TABLE_H

#include "output/table.h"

/* Makes the table of a result with the option measure-in: source by source. False where memory ran
 * out; the table is to be cleared then, too. */
bool plane_table_make(const struct result *result, struct table *table);

#endif
