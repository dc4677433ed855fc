/* Exit statuses of the command, as srcfind(1) documents them. */
#ifndef EXIT_STATUS_H
#define EXIT_STATUS_H

#include "srcfind.h"

enum { EXIT_OK = 0, EXIT_IMAGE = 1, EXIT_USAGE = 2, EXIT_DEVICE = 3, EXIT_DIFFERENCE = 4 };

/* The exit status for a status of the library. */
int exit_status_of(enum srcfind_status status);

#endif
