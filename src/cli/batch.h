/* Searches the images of a command line and writes their catalogues. */
#ifndef BATCH_H
#define BATCH_H

#include "cli/cli.h"

/* Searches all images of the command line. Returns the exit status. */
int batch_run(const struct cli *cli);

#endif
