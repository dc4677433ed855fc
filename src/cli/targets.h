/* Finds the images to search, and names their files. */
#ifndef TARGETS_H
#define TARGETS_H

#include "cli/target.h"

/* Finds the targets of a command line, none if its shard has no image, checks that no catalogue or
 * map would replace another one, an image or the list of images, and that the catalogue of --at can
 * be read. Returns the exit status; on an error the reason is on standard error. The targets are to
 * be freed, also after an error. */
int targets_make(const struct cli *cli, struct targets *targets);

/* Makes the directories of catalogues and maps. Returns the exit status, as above. */
int targets_make_directories(const struct cli *cli, const struct targets *targets);

#endif
