/* The catalogue of srcfind.h, where its members are private: a table, and all tables of its result.
 */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include "output/column_list.h"
#include "output/table.h"

struct srcfind_catalogue {
    struct table table;
    struct catalogues *all; /* those of its result, this one among them */
};

/* A result and its tables, which are made when they are asked for: the sources first. */
struct catalogues {
    struct result result;
    struct srcfind_catalogue *made[TABLE_KINDS]; /* NULL: not made yet */
};

/* Makes a catalogue of sources with an empty result; to be destroyed. NULL where memory ran out. */
struct srcfind_catalogue *catalogue_create(void);
void catalogue_destroy(struct srcfind_catalogue *catalogue);

/* Takes columns and rows from the result, which is complete. */
void catalogue_complete(struct srcfind_catalogue *catalogue);

/* A table of the result, which has what it needs; made by the first call. NULL where memory ran
 * out.
 */
const struct srcfind_catalogue *catalogue_table(struct srcfind_catalogue *catalogue,
                                                enum table_kind kind);

/* Makes the table of chosen columns, in the place of an earlier one. */
enum srcfind_status catalogue_choose(struct srcfind_catalogue *catalogue,
                                     const struct column_list *list,
                                     const struct srcfind_catalogue **table, struct error *error);

#endif
