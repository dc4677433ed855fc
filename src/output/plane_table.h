/* The table of planes: the fluxes of each source in each plane of other images. */
#ifndef PLANE_TABLE_H
#define PLANE_TABLE_H

#include "output/table.h"

/* Makes the table of a result with the option measure-in, source by source. Clear the table also if
 * this fails. */
bool plane_table_make(const struct result *result, struct table *table);

#endif
