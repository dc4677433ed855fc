/* A table of a file in memory, by columns: a catalogue of srcfind, or of another program. */
#ifndef TABLE_FILE_H
#define TABLE_FILE_H

#include "options/options.h"

/* The cells of a column. An empty cell is INT64_MIN, NaN or "". */
struct table_file_column {
    char *name;
    char unit[SRCFIND_TEXT]; /* "" if unknown */
    enum srcfind_kind kind;
    union {
        int64_t *integers;
        double *reals;
        int64_t *starts; /* where the texts begin in `bytes` */
    };
    char *bytes; /* of a column of texts, each with a NUL; else NULL */
};

/* What a file says of its image: numbers are NaN, texts "" and the path NULL where it does not
 * tell. */
struct table_file_image {
    char *path;
    struct srcfind_beam beam;
    double equinox, frequency;
    double width, height;                             /* in pixels */
    char frame[SRCFIND_TEXT];                         /* of sky positions: ICRS, GALACTIC, ... */
    char unit[SRCFIND_TEXT], flux_unit[SRCFIND_TEXT]; /* of the map, and of fluxes */
    char date_obs[SRCFIND_TEXT], telescope[SRCFIND_TEXT], object[SRCFIND_TEXT];
};

/* A block of the rows of a file, and what the file has beside rows. Unknown numbers are NaN, texts
 * "" and pointers NULL. It owns what its pointers point to: table_file_clear frees it. */
struct table_file {
    int64_t n_rows;
    int64_t n_rows_most; /* of a block: at most so many rows are in all of them together */
    int n_columns;       /* 1 or more */
    struct table_file_column *columns;

    /* Of a FITS file: which tables were looked at, and whether there are others. */
    char tables[4 * SRCFIND_TEXT];
    bool may_have_others;

    /* What srcfind writes beside the rows. */
    struct table_file_image image;
    struct options *options; /* that the catalogue was made with */
    char *entry; /* an object of JSON, with the members image, background and detection */
};

/* Which table of a FITS file with several is read: of those that its reader ranks highest, the
 * first one with rows. */
struct table_wish {
    /* 0 to TABLE_FILE_BEST, by the names and units of the columns: they have no cells yet */
    int (*rank)(const struct table_file *table, const struct table_wish *wish);
    const char *lon, *lat; /* the coordinates of an image; NULL: it is not known yet */
};
enum { TABLE_FILE_BEST = 3 };

/* Takes a block of the rows of a file as a table, with all that the file has beside rows. The table
 * is valid until the call returns. */
struct table_sink {
    enum srcfind_status (*take)(void *context, const struct table_file *block, struct error *error);
    void *context;
};

void table_file_clear(struct table_file *table);

/* Frees the cells of the columns whose names `is_used` does not accept: no one may read them after
 * that. */
void table_file_keep_cells(struct table_file *table, bool (*is_used)(const char *name));

/* Turns the integers of the first n rows of a column into real numbers, each the nearest. */
void table_file_make_real(struct table_file_column *column, int64_t n);

/* The column of a name. If there is none, one whose name has letters of another case; else NULL. */
const struct table_file_column *table_file_column(const struct table_file *table, const char *name);

/* A cell as a number: NaN if it is empty, not finite, or a text that is none. */
double table_file_real(const struct table_file_column *column, int64_t row);

/* A cell of a column of texts. */
static inline const char *table_file_text(const struct table_file_column *column, int64_t row) {
    return column->bytes + column->starts[row];
}

#endif
