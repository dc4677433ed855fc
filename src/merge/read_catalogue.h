/* Reads a catalogue that srcfind wrote, with the rows as they were written, to the last bit. */
#ifndef READ_CATALOGUE_H
#define READ_CATALOGUE_H

#include "input/table_file.h"
#include "output/catalogue.h"

/* A catalogue that was read. Of CSV nothing is known but the rows. */
struct read_catalogue {
    struct srcfind_catalogue catalogue; /* its image: as far as the file tells; NaN, "" and 0 */
    bool knows_image, knows_options;
    char *entry; /* see struct table_file */
};

/* Reads csv, ecsv, json or fits, .gz too. Errors: the file has no rows of srcfind, or is a merged
 * catalogue. Clear it also after an error. */
enum srcfind_status read_catalogue(const char *path, struct read_catalogue *read,
                                   struct error *error);

/* Reads the table of the Gaussians of a catalogue that was read, to its gaussian_rows. Errors: the
 * file has no such rows, or those of other sources. */
enum srcfind_status read_catalogue_gaussians(const char *path, struct read_catalogue *read,
                                             struct error *error);

/* Reads the list of the sources that were added to its image, to its injections. */
enum srcfind_status read_catalogue_injections(const char *path, struct read_catalogue *read,
                                              struct error *error);

void read_catalogue_clear(struct read_catalogue *read);

#endif
