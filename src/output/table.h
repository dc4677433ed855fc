/* A table: columns and rows, as writers take them. Its rows are in memory, or read from a store. */
#ifndef TABLE_H
#define TABLE_H

#include <stdio.h>

#include "output/columns.h"
#include "output/result.h"

/* Rows that are not in memory: a merged catalogue keeps its rows in a file, and rows of planes are
 * put together as they are written. */
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
    bool options_differ; /* the images were searched with different options */
    void *context;
    /* Writes the images as an array of JSON. False where memory ran out or reading failed. */
    bool (*write)(void *context, FILE *stream);
};

/* Memory that table_clear frees. */
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
    const char *field_ids; /* in VOTables, what stands before a column's name in its ID; or NULL */
    struct owned owned;
};

/* A table without rows; those of sources and Gaussians have their columns. */
struct table table_of(const struct result *result, enum table_kind kind);

/* The sources of a result, which has the rows. */
struct table table_of_sources(const struct result *result);

/* Makes the table of the Gaussians of a result, in the order of their sources. Clear the table also
 * if this fails. */
bool table_of_gaussians(const struct result *result, struct table *table);

void table_clear(struct table *table);

/* Gives n rows from `first` on. room and images: for n rows of a store. False with errno. */
bool table_read(const struct table *table, int64_t first, int64_t n, void *room,
                const struct row_image **images, struct rows *rows);

/* The words for a table of each kind, in files and messages. */
extern const struct table_words {
    const char *rows; /* the word for its rows */
    const char *what; /* "catalogue", or "table" for a table beside a catalogue */
} table_words[TABLE_KINDS];

/* Room for a row of any store. */
union stored_row {
    int64_t aligned;
    char bytes[1024];
};

#endif
