/* Reads a catalogue that srcfind wrote, with the rows as they were written, to the last bit. */
#ifndef READ_CATALOGUE_H
#define READ_CATALOGUE_H

#include "input/table_file.h"
#include "merge/merge.h"
#include "merge/spool.h"

/* A catalogue that was read. Of CSV nothing is known but the rows. */
struct read_catalogue {
    /* Its image: as far as the file tells; NaN, "" and 0. With a spool it has the number of its
     * rows, and of its gaussian_rows, but not these, which are in the spool. */
    struct srcfind_catalogue catalogue;
    bool knows_image, knows_options;
    char *entry;         /* see struct table_file */
    struct spool *spool; /* of the caller; NULL: none */
    struct kept_rows kept;
};

/* Reads csv, ecsv, json or fits, .gz too. Errors: the file has no rows of srcfind, or is a merged
 * catalogue. Clear it also after an error. */
enum srcfind_status read_catalogue(const char *path, struct read_catalogue *read,
                                   struct error *error);

/* The same with the rows in a spool, so that memory does not grow with their number. */
enum srcfind_status read_catalogue_to(struct spool *spool, const char *path,
                                      struct read_catalogue *read, struct error *error);

/* Reads the table of the Gaussians of a catalogue that was read to a spool, to its gaussian_rows.
 * Errors: the file has no such rows, or those of other sources. */
enum srcfind_status read_catalogue_gaussians(const char *path, struct read_catalogue *read,
                                             struct error *error);

/* Reads the list of the sources that were injected into its image, to its injections. */
enum srcfind_status read_catalogue_injections(const char *path, struct read_catalogue *read,
                                              struct error *error);

void read_catalogue_clear(struct read_catalogue *read);

#endif
