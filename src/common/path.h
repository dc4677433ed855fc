/* File paths. */
#ifndef PATH_H
#define PATH_H

#include <stdbool.h>
#include <string.h>

/* The length of the directory part of a path, with its slash: 4 for "a/b/c", 0 for "c". */
static inline int path_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Whether a path's name has a suffix: ".fits" alone is none. */
static inline bool path_has_suffix(const char *path) {
    const char *name = path + path_directory(path), *point = strrchr(name, '.');
    return point && point > name;
}

/* The length of a path without its suffix, or without both of .csv.gz. */
int path_before_suffix(const char *path);

/* Whether a path ends with a text, in letters of any case. */
bool path_ends_with(const char *path, const char *end);

/* True for a device, a pipe or a socket: what is written there is read at once, and replaces no
 * file. False where nothing is there. */
bool path_is_stream(const char *path);

/* Whether both paths lead to one file, which is there. */
bool path_is_same_file(const char *a, const char *b);

/* Whether a file has these n bytes, at most 64, so far from its start (SEEK_SET) or end (SEEK_END).
 */
bool path_has_bytes(const char *path, long offset, int whence, const void *bytes, size_t n);

/* Whether a path ends in .gz or .fz, as those of compressed images do. */
bool path_is_compressed(const char *path);

/* The length of an image's name without .gz or .fz at its end, and without .fits, .fit or .fts
 * before. */
int path_stem(const char *name);

#endif
