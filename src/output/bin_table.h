/* Tables of bins of completeness and of reliability, and of the sources that were injected for
 * completeness. */
#ifndef BIN_TABLE_H
#define BIN_TABLE_H

#include "output/table.h"

/* Makes a table of this kind of a result, which has the injections or, for reliability, the
 * sources. Clear the table also if this fails. */
bool bin_table_make(const struct result *result, enum table_kind kind, struct table *table);

/* Makes the table of completeness of many images, which has only bins of flux. */
bool bin_table_merged(const struct result *result, const struct merged_images *images,
                      struct table *table);

#endif
