/* The catalogue of srcfind.h: a table, and the way to the other tables of its result. */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include "output/column_list.h"
#include "output/table.h"

struct srcfind_catalogue {
    struct table table;
    struct catalogues *all; /* all catalogues of its result, this one among them */
};

/* A result and its tables. The table of sources is made first, others when they are asked for. */
struct catalogues {
    struct result result;
    struct srcfind_catalogue *made[TABLE_KINDS]; /* NULL: not made yet */
};

/* Makes a catalogue of sources with an empty result, to be destroyed. NULL where memory ran out. */
struct srcfind_catalogue *catalogue_create(void);
void catalogue_destroy(struct srcfind_catalogue *catalogue);

/* Makes the table of sources, of a result that is now complete. */
void catalogue_complete(struct srcfind_catalogue *catalogue);

/* A table of the result, which has its rows; made by the first call. NULL where memory ran out. */
const struct srcfind_catalogue *catalogue_table(struct srcfind_catalogue *catalogue,
                                                enum table_kind kind);

/* Makes the table of chosen columns, which replaces an earlier one. */
enum srcfind_status catalogue_choose(struct srcfind_catalogue *catalogue,
                                     const struct column_list *list,
                                     const struct srcfind_catalogue **table, struct error *error);

#endif
