/* A catalogue with other columns: --columns. */
#ifndef SELECTED_H
#define SELECTED_H

#include "output/column_list.h"

struct selected;

/* Makes a catalogue of the rows of another one, which must outlive it, with the columns of a list.
 * Beside its columns there are Beam_Maj, Beam_Min, Beam_PA (deg), Frequency (Hz) and Image. The
 * columns of positions have the names of any frame. To be freed, also after an error: a name that
 * there is not, or a unit that the column cannot be converted to. */
enum srcfind_status selected_make(const struct srcfind_catalogue *of,
                                  const struct column_list *list, struct selected **selected,
                                  struct error *error);
const struct srcfind_catalogue *selected_catalogue(const struct selected *selected);
/* What --columns takes beside the columns of catalogues: the i-th; NULL after the last. */
const struct srcfind_column *selected_fact(int i);

void selected_free(struct selected *selected);

/* Checks the names of a list against the columns of catalogues that are made with these options. */
enum srcfind_status selected_check(const struct column_list *list, const struct options *options,
                                   struct error *error);

#endif
