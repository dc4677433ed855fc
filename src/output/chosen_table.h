/* A table of sources with the columns of --columns. */
#ifndef CHOSEN_TABLE_H
#define CHOSEN_TABLE_H

#include "output/column_list.h"
#include "output/table.h"

/* Makes a table of the sources of a result with the columns of a list. The list may name the
 * columns of sources, positions by their names in any frame, Beam_Maj, Beam_Min, Beam_PA (deg),
 * Frequency (Hz) and Image, and the columns of derived.h. Errors: an unknown name, or a unit that
 * the column cannot be converted to. Clear the table also after an error. */
enum srcfind_status chosen_table_make(const struct result *result, const struct column_list *list,
                                      struct table *table, struct error *error);

/* Checks the names of a list against the columns of tables that are made with these options. */
enum srcfind_status chosen_table_check(const struct column_list *list,
                                       const struct options *options, struct error *error);

/* Column i of those that --columns takes beside the columns of sources, and whether it needs --fit;
 * NULL after the last. */
const struct srcfind_column *chosen_table_column(int i, bool *needs_fit);

#endif
