/* A directory for the files of a test. */
#ifndef TEMPORARY_H
#define TEMPORARY_H

#include <stdbool.h>

enum { TEMPORARY_PATH = 256 };

/* Makes an empty directory in TMPDIR, or /tmp, and writes its path. The caller removes it. */
bool temporary_directory(char path[TEMPORARY_PATH]);

#endif
