/* Whether a run would write over what it reads, twice to one file, or a map over what is none. */
#ifndef CONFLICTS_H
#define CONFLICTS_H

#include "cli/targets.h"

/* Checks that no catalogue or map would replace an image, a mask or map that is read, the list of
 * images, or another output, and no map a file that srcfind did not make. *status is the exit
 * status; on an error the reason is on standard error. False where memory ran out. */
bool conflicts_check(const struct cli *cli, const struct targets *targets, int *status);

#endif
