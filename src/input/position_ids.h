/* The texts by which a catalogue knows its entries. */
#ifndef POSITION_IDS_H
#define POSITION_IDS_H

#include "input/table_file.h"

/* Whether position_ids_fill may use a column of this name. */
bool position_ids_use(const char *name);

/* Writes the text of each row of a table to ids: the cell of the first column that is there of
 * those that name entries; Aegean's island and source as `island.source`; else, and for an empty
 * cell, the number. A text is cut to SRCFIND_CELL - 1 bytes, and has `_` for all but letters,
 * digits and +-._: so that no format needs quotes for it. */
void position_ids_fill(const struct table_file *table, const int64_t *numbers,
                       char (*ids)[SRCFIND_CELL]);

#endif
