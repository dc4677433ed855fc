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

/* Makes a directory and those above it. Returns 0, or errno. */
static int make_all(char *path) {
    for (char *at = path + 1; *at; at++) {
        if (*at == '/') {
            *at = '\0';
            mkdir(path, 0777);
            *at = '/';
        }
    }
    const int code = mkdir(path, 0777) == 0 ? 0 : errno;
    return code == EEXIST ? ENOTDIR : code; /* something else may have that name */
}

int directory_make_for(const char *path) {
    char *directory = directory_of(path);
    if (!directory)
        return messages_no_memory("making a directory");
    int status = EXIT_OK;
    if (!directory_is(directory)) {
        const int code = make_all(directory);
        if (code != 0 && !directory_is(directory)) {
            messages_usage("%s: the directory cannot be made: %s", directory, strerror(code));
            status = EXIT_IMAGE;
        }
    }
    free(directory);
    return status;
}

int directory_check_for(const char *path, const char *what) {
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
