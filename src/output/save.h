/* Saves catalogues and maps to streams and files. */
#ifndef SAVE_H
#define SAVE_H

#include "output/writer.h"

/* Writes a catalogue to a stream and flushes it. Messages call the stream `name`. */
enum srcfind_status save_stream(const struct table *table, const struct writer *writer,
                                struct threads *threads, FILE *stream, const char *name,
                                struct error *error);

/* The content of a file. */
struct save_content {
    const char *what; /* for messages: "catalogue" */
    /* Writes the content to a stream and flushes it. Messages call the stream `name`. */
    enum srcfind_status (*write)(void *context, FILE *stream, const char *name,
                                 struct error *error);
    void *context;
};

/* Writes to a temporary file and renames it to the path, so that a reader never sees an incomplete
 * file. Devices and pipes are written to directly. */
enum srcfind_status save_whole(const struct save_content *content, const char *path,
                               struct error *error);

/* Checks that no FITS file other than a catalogue of srcfind is at this path. Messages call the new
 * file `what`: "catalogue". */
enum srcfind_status save_check(const char *path, const char *what, struct error *error);

/* Checks that a path suits a format: sky models are not compressed, and one with a file beside it
 * needs a path with a name. */
enum srcfind_status save_check_form(const struct writer *writer, const char *path,
                                    struct error *error);

/* The path of the file beside a table, by its writer: STEM.cluster; to be freed. NULL where memory
 * ran out. */
char *save_beside(const struct writer *writer, const char *path);

/* Saves a table as save_whole does, and the file beside it, if its writer has one. If the table
 * cannot be saved, the file beside it is removed. */
enum srcfind_status save_file(const struct table *table, const struct writer *writer,
                              struct threads *threads, const char *path, struct error *error);

/* Follows symbolic links, so that saving replaces the target of a link and not the link; the target
 * need not exist. Returns a path to be freed, or NULL with errno set. */
char *save_final_path(const char *path);

/* Removes temporary files of killed processes from the directory of a catalogue. */
void save_clean(const char *path);

/* Whether a file begins and ends as a catalogue does. csv_first: the column names with which a CSV
 * file begins; NULL: those of a catalogue. After a power failure a catalogue may be incomplete:
 * files are not synced to the disk, which would take some milliseconds each. */
bool save_is_whole(const struct writer *writer, const char *csv_first, const char *path);

#endif
