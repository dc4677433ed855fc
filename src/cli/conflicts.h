/* Whether a run would write over what it reads, twice to one file, or a map over what is none. */
#ifndef CONFLICTS_H
#define CONFLICTS_H

#include "cli/target.h"

/* Checks that no catalogue or map would replace an image, a mask or map that is read, the list of
 * images, or another output. Returns the exit status; on an error the reason is on standard error.
 */
int conflicts_check(const struct cli *cli, const struct targets *targets);

/* The same for files that are there and do not belong to the run: a map replaces no file that is no
 * map of srcfind, and a catalogue no image. Returns the exit status. */
int conflicts_check_existing(const struct cli *cli, const struct targets *targets);

#endif
