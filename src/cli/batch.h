/* The work: image after image, each to its catalogue. */
#ifndef BATCH_H
#define BATCH_H

#include "command_line.h"

/* Does what a command line asks for, and returns the exit status. */
int batch_run(const struct cli *cli);

/* The exit status for what a call of the library returned. */
int batch_exit_status(enum srcfind_status status);

#endif
