/* A table of sources with the columns of --columns. */
#ifndef CHOSEN_TABLE_H
#define CHOSEN_TABLE_H

#include "output/column_list.h"
#include "output/table.h"

/* Makes a table of the sources of a result with the columns of a list. Beside the columns of
 * sources there are Beam_Maj, Beam_Min, Beam_PA (deg), Frequency (Hz) and Image. The columns of
 * positions have the names of any frame. Errors: a name that there is not, or a unit that the
 * column cannot be converted to. The table is to be cleared then, too. */
enum srcfind_status chosen_table_make(const struct result *result, const struct column_list *list,
                                      struct table *table, struct error *error);

/* Checks the names of a list against the columns of tables that are made with these options. */
enum srcfind_status chosen_table_check(const struct column_list *list,
                                       const struct options *options, struct error *error);

/* What --columns takes beside the columns of sources: the i-th; NULL after the last. */
const struct srcfind_column *chosen_table_fact(int i);

#endif
