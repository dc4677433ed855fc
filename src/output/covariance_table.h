/* The table of --save covariance: positions of --at whose fluxes err together. */
#ifndef COVARIANCE_TABLE_H
#define COVARIANCE_TABLE_H

#include "output/table.h"

/* Makes the table of a result of --at with a fit: a row for each two rows whose errors have a
 * correlation of more than 0.1, of either sign (place_pairs.h), in the order of the rows. Clear the
 * table also if this fails. */
bool covariance_table_make(const struct result *result, struct table *table);

#endif
