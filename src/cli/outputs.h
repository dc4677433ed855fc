/* The catalogue and the maps of an image. */
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include <sys/stat.h>

#include "cli/target.h"

/* Writes the maps and tables, and then the catalogue: where the catalogue is, maps and tables are
 * there, too. On an error the finder has the message, and the maps and tables are removed. Signals
 * that end the process wait while a file is written. */
enum srcfind_status outputs_write(struct srcfind *finder, struct srcfind_catalogue *catalogue,
                                  const struct targets *targets, const struct target *target);

/* Sets the size in *info to the sum of the sizes of all outputs, and the modification time to that
 * of the output written last. Another run that replaces an output changes them. False if there is
 * no output, or one is missing. */
bool outputs_version(const struct target *target, struct stat *info);

/* Whether the catalogue and all other outputs are there and complete: after a power cut a file may
 * lack its end. Maps of another image do not count. choice: how the search opens the image. */
bool outputs_exist(const struct targets *targets, const struct target *target,
                   const struct image_choice *choice);

#endif
