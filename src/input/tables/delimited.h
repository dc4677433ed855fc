/* Lines of cells: CSV as in RFC 4180, the same with other delimiters, and the rows of ECSV. Lines
 * end with LF, CRLF or CR. Blanks around cells and blank lines do not count. A cell in quotes may
 * have delimiters and lines; two quotes in it are one. */
#ifndef DELIMITED_H
#define DELIMITED_H

#include "input/tables/builder.h"

struct delimited {
    const char *path; /* for messages */
    const char *at, *end;
    int64_t line;   /* of `at`, from 1 */
    char delimiter; /* `,`, `;`, `|`, a tab, or a blank, of which several count as one */
    bool comments;  /* lines that begin with # do not count */
    /* Private. */
    const char *row;
    char *unquoted;
    int64_t unquoted_capacity;
};

struct delimited_cell {
    const char *text; /* valid until the next cell */
    size_t length;
    bool is_last; /* of its line */
};

void delimited_clear(struct delimited *d);

/* Goes to the next line with a cell; false at the end of the text. */
bool delimited_next_row(struct delimited *d);

/* Reads the next cell of the line. */
enum srcfind_status delimited_next_cell(struct delimited *d, struct delimited_cell *cell,
                                        struct error *error);

/* Reads a line of names as columns. */
enum srcfind_status delimited_read_names(struct delimited *d, struct builder *b,
                                         struct error *error);

/* Reads what stands before the rows of a format: the names of the columns, and metadata. */
typedef enum srcfind_status delimited_begin(struct delimited *d, struct builder *b,
                                            struct table_file *table, struct error *error);

/* Reads a file. An error if a line has fewer or more cells than there are columns. */
enum srcfind_status delimited_read(const char *path, delimited_begin *begin,
                                   struct table_file *table, struct error *error);

/* The same in blocks, as readers.h says: hands the rows over as tables with the metadata of
 * `table`. */
enum srcfind_status delimited_read_blocks(const char *path, delimited_begin *begin,
                                          const struct table_sink *sink, struct table_file *table,
                                          bool *done, struct error *error);

#endif
