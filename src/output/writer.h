/* The table of catalogue formats. A format is one file, which defines a struct writer, and one line
 * of the table in writer.c. */
#ifndef WRITER_H
#define WRITER_H

#include "common/error.h"
#include "output/table.h"

/* A file that belongs beside a sky model, and is complete before the sky model has its name. */
struct beside {
    const char *suffix, *what; /* of STEM.suffix; for messages: "list of clusters" */
    void (*write)(const struct table *model, FILE *stream);
};

/* The first and last bytes of a file of a format, by which a whole file is known; at most 32 each.
 */
struct file_ends {
    const char *first, *last;
};

/* How a format writes rows. */
struct row_format {
    /* Formats rows to text, which has writer_row_bytes for each, and returns the number of bytes.
     * Several threads may call this at the same time. All calls but for that of the last rows have
     * a multiple of three rows. */
    size_t (*format)(const struct table *table, const struct rows *rows, char *text);
    size_t most_bytes; /* of a row, but for texts of its image */
};

struct writer {
    struct srcfind_format format;
    const char *about;     /* one line of help */
    const char *alias;     /* another name of the format, or NULL */
    struct file_ends ends; /* none where is_whole stands in for them */
    bool is_table;         /* it has all columns of each row */
    bool is_sky_model;     /* its rows are those of sky_model.h; never compressed */
    bool is_binary;        /* no text for a terminal */
    /* Whether a file has all that a writer writes; NULL: if it has the ends. */
    bool (*is_whole)(const char *path);
    /* Writes the text before the rows. False where memory ran out. */
    bool (*begin)(const struct table *table, FILE *stream);
    struct row_format rows;
    const char *after; /* the text after the rows; NULL: there is none, or `end` writes it */
    void (*end)(const struct table *table, FILE *stream); /* or NULL */
    const struct beside *beside;                          /* or NULL */
};

/* All formats, in the order in which help lists them; the first one is the default. */
extern const struct writer *const writers[];
extern const int n_writers;

/* The writer of a format, by its name, its alias or a suffix without the dot, in letters of any
 * case; the default writer for NULL. Returns NULL if there is no such format. */
const struct writer *writer_named(const char *name);

/* The maximum length of a formatted row of a catalogue. */
size_t writer_row_bytes(const struct writer *writer, const struct table *table);

extern const struct writer csv_writer, json_writer, votable_writer, fits_writer, ecsv_writer,
    reg_writer, crtf_writer, skymodel_writer, sagecal_writer, table_writer;

#endif
