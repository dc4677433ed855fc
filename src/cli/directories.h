/* The directories of outputs. */
#ifndef DIRECTORIES_H
#define DIRECTORIES_H

#include <stdbool.h>

bool directory_is(const char *path);

/* Makes the directory that a path is in, and those above it, unless it is there. Returns the exit
 * status; on an error the reason is on standard error. */
int directory_make_for(const char *path);

/* Checks that the directory that a path is in exists. Returns the exit status; on an error the
 * reason is on standard error: `what` cannot be written. */
int directory_check_for(const char *path, const char *what);

#endif
