/* The columns of a table and their names: a function of its kind, of options, and of units and
 * coordinates of the image. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "options/options.h"
#include "output/cells.h"

enum { MOST_COLUMNS = 64 };

/* The kinds of tables, by their rows. The rows of TABLE_OF_CHOSEN are sources, with the columns of
 * --columns. */
enum table_kind {
    TABLE_OF_SOURCES,
    TABLE_OF_GAUSSIANS,
    TABLE_OF_ISLANDS,
    TABLE_OF_COVARIANCES,
    TABLE_OF_PLANES,
    TABLE_OF_COMPLETENESS,
    TABLE_OF_RELIABILITY,
    TABLE_OF_INJECTIONS,
    TABLE_OF_CHOSEN,
    TABLE_OF_SKY_MODEL,
    TABLE_KINDS
};

struct columns {
    int n;
    struct column column[MOST_COLUMNS];
};

/* Options that add columns, each with the options that it implies. */
enum {
    WITH_AT = 1,
    WITH_DEBLEND = 2,
    WITH_FIT = 4 | WITH_DEBLEND,
    WITH_SCALES = 8 | WITH_FIT,
    WITH_MEASURE_IN = 16 | WITH_FIT
};

/* The facts that columns depend on. */
struct column_facts {
    unsigned with; /* options: bits as above */
    const char *unit, *flux_unit;
    const char *lon_name; /* in the frame of the image; "": there are no sky coordinates */
};

/* The bits, as above, of options that add columns. */
unsigned column_facts_with(const struct options *options);

/* The facts of a search with these options; texts point into the image. */
struct column_facts column_facts_of(const struct options *options,
                                    const struct srcfind_image *image);

/* Adds the columns of a table of sources or of Gaussians; their units point into the facts. */
void columns_add(struct columns *columns, const struct column_facts *facts, enum table_kind kind);

/* A column of another table. `unit` is "map", "flux" or "size" if it depends on the image. */
struct column_entry {
    enum table_kind kind;
    const char *name, *unit, *ucd;
    size_t offset;
    enum srcfind_kind cell;
    size_t width; /* 0: a text of the row's image; such columns are given their widths */
    const char *description;
};

/* Adds the columns of those of n entries that are of this kind. */
void columns_add_entries(struct columns *columns, const struct column_facts *facts,
                         enum table_kind kind, const struct column_entry *list, size_t n);

/* Sets the unit of a column that has "map", "flux" or "size" for one. */
void columns_set_unit(struct srcfind_column *column, const struct column_facts *facts);

/* The column of a name; -1 if there is none. */
int columns_find(const struct columns *columns, const char *name);

/* Removes the column of a name, if there is one. */
void columns_remove(struct columns *columns, const char *name);

#endif
