/* The ids of the rows of a catalogue, as texts. */
#ifndef POSITION_IDS_H
#define POSITION_IDS_H

#include "input/table_file.h"

/* Whether position_ids_fill may use a column of this name. */
bool position_ids_use(const char *name);

/* Writes the id of each row of a table: the cell of the first column of ids that the table has, or
 * Aegean's island and source as `island.source`; without such a column, and for an empty cell, the
 * number of the row in `numbers`. An id is cut to SRCFIND_CELL - 1 bytes, and has `_` for all but
 * letters, digits and +-._: so that no format needs quotes. */
void position_ids_fill(const struct table_file *table, const int64_t *numbers,
                       char (*ids)[SRCFIND_CELL]);

#endif
