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

int directory_make_for(const char *path) {
    char *directory = directory_of(path);
    if (!directory)
        return messages_no_memory("making a directory");
    const int code = directory_is(directory) ? 0 : make_all(directory);
    if (code != 0)
        messages_usage("%s: the directory cannot be made: %s", directory, strerror(code));
    free(directory);
    return code == 0 ? EXIT_OK : EXIT_IMAGE;
}

int directory_check_for(const char *path, const char *what) {
    if (directory_is(path)) {
        messages_usage("%s: the %s cannot be written: this is a directory: name a file in it", path,
                       what);
        return EXIT_IMAGE;
    }
    char *directory = directory_of(path);
    if (!directory)
        return messages_no_memory("looking for a directory");
    const bool exists = directory_is(directory);
    free(directory);
    if (exists)
        return EXIT_OK;
    messages_usage("%s: the %s cannot be written: there is no such directory", path, what);
    return EXIT_IMAGE;
}
