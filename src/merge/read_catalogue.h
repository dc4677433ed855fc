/* Reads a catalogue that srcfind wrote, with the rows as they were written, to the last bit. */
#ifndef READ_CATALOGUE_H
#define READ_CATALOGUE_H

#include "merge/merge_input.h"
#include "merge/spool.h"

/* A catalogue that was read. Of CSV nothing is known but the rows. */
struct read_catalogue {
    /* Image and options: as far as the file tells; NaN, "" and 0. Of sources it has the number; the
     * rows are in the spool. */
    struct result result;
    bool knows_image, knows_options;
    char *entry;         /* see struct table_file */
    struct spool *spool; /* of the caller */
    struct kept_rows kept;
};

/* Reads csv, ecsv, json or fits, .gz too, with the rows in a spool, so that memory does not grow
 * with their number. Errors: the file has no rows of srcfind, or is a merged catalogue. Clear it
 * also after an error. */
enum srcfind_status read_catalogue(struct spool *spool, const char *path,
                                   struct read_catalogue *read, struct error *error);

/* Reads the table of the Gaussians of a catalogue that was read. Errors: the file has no such rows,
 * or those of other sources. */
enum srcfind_status read_catalogue_gaussians(const char *path, struct read_catalogue *read,
                                             struct error *error);

/* Reads the list of the sources that were injected into its image, to its injections. */
enum srcfind_status read_catalogue_injections(const char *path, struct read_catalogue *read,
                                              struct error *error);

void read_catalogue_clear(struct read_catalogue *read);

#endif
