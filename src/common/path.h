/* File paths. */
#ifndef PATH_H
#define PATH_H

#include <string.h>

/* The length of the directory part of a path, with its slash: 4 for "a/b/c", 0 for "c". */
static inline int path_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

#endif
