/* The directories of outputs. */
#ifndef DIRECTORIES_H
#define DIRECTORIES_H

#include <stdbool.h>

bool directory_is(const char *path);

/* Makes a directory, and those above it, unless it is there. Returns the exit status; on an error
 * the reason is on standard error. */
int directory_make(const char *path);

/* The same for the directory that a path is in. */
int directory_make_for(const char *path);

/* Checks that the directory that a path is in exists, or will: it is `made`, a directory that the
 * run makes, or above it. made: NULL if the run makes none. Returns the exit status; on an error
 * the reason is on standard error: `what` cannot be written. */
int directory_check_for(const char *path, const char *what, const char *made);

#endif
