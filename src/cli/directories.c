#include "cli/directories.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/exit_status.h"
#include "cli/messages.h"
#include "common/path.h"

bool directory_is(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The directory that a path is in, "." for a name alone; to be freed. NULL where memory ran out. */
static char *directory_of(const char *path) {
    size_t length = (size_t)path_directory(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length == 0 ? strdup(".") : strndup(path, length);
}

/* Makes a directory, unless it is there. Returns 0, or errno. */
static int make(const char *path) {
    const int code = mkdir(path, 0777) == 0 ? 0 : errno;
    return code == 0 || directory_is(path) ? 0 : code == EEXIST ? ENOTDIR : code;
}

/* Makes a directory and those above it. Returns 0, or errno; the path then ends with the directory
 * that cannot be made. */
static int make_all(char *path) {
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        const int code = make(path);
        if (code != 0)
            return code;
        *at = '/';
    }
    return make(path);
}

/* Makes a directory and those above it, unless it is there, and frees its path, which may be NULL.
 * Returns the exit status. */
static int make_and_free(char *directory) {
    if (!directory)
        return messages_no_memory("making a directory");
    const int code = directory_is(directory) ? 0 : make_all(directory);
    if (code != 0)
        messages_usage("%s: the directory cannot be made: %s", directory, strerror(code));
    free(directory);
    return code == 0 ? EXIT_OK : EXIT_IMAGE;
}

int directory_make(const char *path) {
    return make_and_free(strdup(path));
}

int directory_make_for(const char *path) {
    return make_and_free(directory_of(path));
}

/* --- directories that a run makes --- */

/* The length of the beginning of a path that is a directory; *info is that of this directory, or of
 * the current one. */
static size_t length_that_exists(char *path, struct stat *info) {
    size_t length = 0;
    if (stat(*path == '/' ? "/" : ".", info) != 0)
        *info = (struct stat){0};
    for (size_t end = 1; path[length]; end++) {
        struct stat one;
        end += strcspn(path + end, "/");
        const char after = path[end];
        path[end] = '\0';
        const bool exists = stat(path, &one) == 0 && S_ISDIR(one.st_mode);
        path[end] = after;
        if (!exists)
            break;
        *info = one;
        length = end;
    }
    return length;
}

/* The next name of a path, and its length; 0 at the end. */
static const char *next_name(const char *path, size_t *length) {
    for (;; path++) {
        path += strspn(path, "/");
        *length = strcspn(path, "/");
        if (*length != 1 || *path != '.')
            return path;
    }
}

/* Whether a directory is there once `made` is, which begins with it, however both are written. */
static bool is_made_with(char *directory, char *made) {
    struct stat one, other;
    const char *a = directory + length_that_exists(directory, &one);
    const char *b = made + length_that_exists(made, &other);
    size_t n, m;
    if (one.st_dev != other.st_dev || one.st_ino != other.st_ino)
        return false;
    for (;; a += n, b += m) {
        a = next_name(a, &n);
        b = next_name(b, &m);
        if (n == 0)
            return true;
        if (n != m || memcmp(a, b, n) != 0)
            return false;
    }
}

/* Whether a directory is there, or will be once `made` is, which may be NULL. Sets *ok to false
 * where memory ran out. */
static bool is_or_will_be(const char *path, const char *made, bool *ok) {
    if (directory_is(path) || !made)
        return directory_is(path);
    char *directory = strdup(path), *copy = strdup(made);
    const bool is = directory && copy && is_made_with(directory, copy);
    *ok = *ok && directory && copy;
    free(directory);
    free(copy);
    return is;
}

int directory_check_for(const char *path, const char *what, const char *made) {
    bool ok = true;
    const bool is_directory = is_or_will_be(path, made, &ok);
    char *parent = directory_of(path);
    const bool has_parent = parent && is_or_will_be(parent, made, &ok);
    ok = ok && parent;
    free(parent);
    if (!ok)
        return messages_no_memory("looking for a directory");
    if (!is_directory && has_parent)
        return EXIT_OK;
    messages_usage("%s: the %s cannot be written: %s", path, what,
                   is_directory ? "this is a directory: name a file in it"
                                : "there is no such directory");
    return EXIT_IMAGE;
}
