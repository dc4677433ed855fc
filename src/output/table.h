/* A table: columns and rows, as writers take them. The rows are in memory, or a store reads them.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdio.h>

#include "output/columns.h"
#include "output/result.h"

/* Rows that are not in memory: a merged catalogue keeps them in a file, and those of planes are put
 * together when they are written. */
struct row_store {
    void *context;
    /* Reads the rows from `first` on, as many as the arrays take, with their images. False with
     * errno. Several threads may call this at the same time. */
    bool (*read)(void *context, int64_t first, int64_t n, void *rows,
                 const struct row_image **images);
};

/* The images of a table of many. */
struct merged_images {
    int64_t n;           /* 0: the table is of one image */
    bool options_differ; /* and so are not known */
    void *context;
    /* Writes the images as an array of JSON. False where memory ran out or reading failed. */
    bool (*write)(void *context, FILE *stream);
};

/* Memory that goes with a table. */
struct owned {
    void *memory;
    void (*free)(void *memory);
};

struct table {
    const struct result *of; /* outlives the table; units of columns point into its image */
    enum table_kind kind;
    struct columns columns;
    int64_t n_rows;
    size_t row_bytes;
    const void *rows;       /* all of them; NULL: they are in the store */
    struct row_store store; /* empty if rows are in memory */
    struct merged_images images;
    struct owned owned;
};

/* A table without rows; those of sources and Gaussians have their columns. */
struct table table_of(const struct result *result, enum table_kind kind);

/* The sources of a result, which has the rows. */
struct table table_of_sources(const struct result *result);

/* The Gaussians of a result, in the order of their sources. The others are false where memory ran
 * out, too; table_clear() is for the table then, as well. */
bool table_of_gaussians(const struct result *result, struct table *table);

void table_clear(struct table *table);

/* The rows from `first` on, with room for those of a store: n rows and as many images. False with
 * errno. */
bool table_read(const struct table *table, int64_t first, int64_t n, void *room,
                const struct row_image **images, struct rows *rows);

/* What files and messages call a table of each kind. */
extern const struct table_words {
    const char *rows; /* what its rows are */
    const char *what; /* "catalogue", or "table" of what stands beside one */
} table_words[TABLE_KINDS];

/* Room for a row of a store, whatever its table is. */
union stored_row {
    int64_t aligned;
    char bytes[256];
};

#endif
