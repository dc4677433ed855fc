/* Searches the images of a command line and writes their catalogues. */
#ifndef BATCH_H
#define BATCH_H

#include "cli/command_line.h"

/* Searches all images of the command line. Returns the exit status. */
int batch_run(const struct cli *cli);

/* The exit status for a status of the library. */
int batch_exit_status(enum srcfind_status status);

#endif
