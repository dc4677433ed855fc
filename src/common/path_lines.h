/* Paths in a file, one after another. */
#ifndef PATH_LINES_H
#define PATH_LINES_H

#include <stdio.h>

enum path_line {
    PATH_LINE_THERE,
    PATH_LINE_NONE, /* the stream is at its end, or cannot be read */
    PATH_LINE_TOO_LONG,
    PATH_LINE_WITH_NUL, /* a NUL within the line: the file is no list */
};

/* Reads the next path, which ends with `end`: NUL, or LF or CR LF. size is the capacity of path. A
 * stream that cannot be read ends: see ferror. */
enum path_line path_line_read(FILE *stream, int end, char *path, int size);

#endif
