/* Tables that are not of sources: bins of completeness and of reliability, and the sources that
 * were injected for completeness. */
#ifndef BIN_TABLE_H
#define BIN_TABLE_H

#include "output/table.h"

/* Makes the table of this kind of a result, which has the injections or, for reliability, the
 * sources. False where memory ran out; the table is to be cleared then, too. */
bool bin_table_make(const struct result *result, enum table_kind kind, struct table *table);

/* The same of the completeness of many images: bins of flux alone. */
bool bin_table_merged(const struct result *result, const struct merged_images *images,
                      struct table *table);

#endif
