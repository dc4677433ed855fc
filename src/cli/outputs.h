/* The catalogue and the maps of an image. */
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include <sys/stat.h>

#include "cli/targets.h"

/* Writes the maps and the table of Gaussians, and then the catalogue: where it is, they are there,
 * too. On an error the finder has the message, and the maps are removed. Signals that end the
 * process wait while a file is written. */
enum srcfind_status outputs_write(struct srcfind *finder, struct srcfind_catalogue *catalogue,
                                  const struct targets *targets, const struct target *target);

/* Sets size and modification time in *info to those of the catalogue and the maps: the sum, and
 * that of the last one. Another run that replaces one of them changes them. False if there is
 * none, or one is missing. */
bool outputs_version(const struct target *target, struct stat *info);

/* Whether the catalogue and the maps are there. Incomplete ones, as after a power cut, are not, and
 * neither are maps of another image. options: those of the search. */
bool outputs_exist(const struct targets *targets, const struct target *target,
                   const struct srcfind_options *options);

#endif
