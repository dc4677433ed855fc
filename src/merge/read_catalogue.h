/* Reads a catalogue that srcfind wrote; its rows are the same to the last bit. */
#ifndef READ_CATALOGUE_H
#define READ_CATALOGUE_H

#include "merge/merge_input.h"
#include "merge/spool.h"

/* A catalogue that was read. CSV has rows alone. */
struct read_catalogue {
    /* Image and options as the file has them, NaN, "" and 0 if it has not; the number of sources,
     * whose rows are in the spool. */
    struct result result;
    bool knows_image, knows_options;
    char *entry;         /* see struct table_file */
    struct spool *spool; /* of the caller */
    struct kept_rows kept;
};

/* Reads csv, ecsv, json or fits, also .gz, with its rows to a spool: memory does not grow with
 * their number. Errors: the file has no rows of srcfind, or is a merged catalogue. Clear it also
 * after an error. */
enum srcfind_status read_catalogue(struct spool *spool, const char *path,
                                   struct read_catalogue *read, struct error *error);

/* Reads the table of Gaussians of a catalogue that was read. Errors: the file has no such rows, or
 * Gaussians of other sources. */
enum srcfind_status read_catalogue_gaussians(const char *path, struct read_catalogue *read,
                                             struct error *error);

/* Reads the list of sources that were injected into the image of a catalogue that was read. */
enum srcfind_status read_catalogue_injections(const char *path, struct read_catalogue *read,
                                              struct error *error);

void read_catalogue_clear(struct read_catalogue *read);

#endif
