#define _GNU_SOURCE /* asprintf */
#include "output/partial_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/path.h"

#define PREFIX ".srcfind-"
#define SUFFIX ".part"

enum { A_DAY = 24 * 60 * 60 };

/* --- writing --- */

/* Locks a new file. False if another process took the file for abandoned, and removed it, before
 * the lock. Errors of file systems without locks are ignored. */
static bool lock_new(int descriptor) {
    struct stat info;
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(descriptor, &info) != 0 || info.st_nlink > 0;
}

/* Makes a new file and locks it. Returns its descriptor, and its path, to be freed; -1 with errno
 * set on an error. */
static int make_locked(const char *beside, char **path) {
    static atomic_uint number; /* several threads may save in one directory */
    for (int i = 0; i < 100; i++) {
        if (asprintf(path, "%.*s" PREFIX "%ld-%u" SUFFIX, path_directory(beside), beside,
                     (long)getpid(), atomic_fetch_add(&number, 1)) < 0) {
            *path = NULL;
            return -1;
        }
        const int descriptor = open(*path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 && lock_new(descriptor))
            return descriptor;
        const int code = descriptor >= 0 ? EEXIST : errno;
        if (descriptor >= 0)
            close(descriptor);
        free(*path);
        *path = NULL;
        errno = code;
        if (code != EEXIST)
            return -1;
    }
    return -1;
}

/* Opens a stream on a copy of the descriptor: fclose() leaves the descriptor, and its lock. */
static FILE *open_stream(int descriptor) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "w");
    const int code = errno;
    if (!stream && copy >= 0)
        close(copy);
    errno = code;
    return stream;
}

bool partial_file_open(const char *path, struct partial_file *file) {
    struct stat info;
    file->lock = make_locked(path, &file->path);
    if (file->lock < 0)
        return false;
    if (stat(path, &info) == 0)
        fchmod(file->lock, info.st_mode & 07777);
    file->stream = open_stream(file->lock);
    if (file->stream)
        return true;
    const int code = errno;
    partial_file_discard(file);
    errno = code;
    return false;
}

void partial_file_discard(struct partial_file *file) {
    if (file->stream)
        fclose(file->stream);
    unlink(file->path);
    close(file->lock);
    free(file->path);
}

int partial_file_forget(struct partial_file *file) {
    const bool is_gone = unlink(file->path) == 0, is_closed = fclose(file->stream) == 0;
    const int descriptor = file->lock, code = errno;
    free(file->path);
    if (is_gone && is_closed)
        return descriptor;
    close(descriptor);
    errno = code;
    return -1;
}

int partial_file_keep(struct partial_file *file, const char *path) {
    const bool closed = fclose(file->stream) == 0;
    file->stream = NULL;
    if (closed && rename(file->path, path) == 0) {
        free(file->path);
        return file->lock;
    }
    const int code = errno;
    partial_file_discard(file);
    errno = code;
    return -1;
}

bool partial_file_finish(struct partial_file *file, const char *path) {
    const int descriptor = partial_file_keep(file, path);
    if (descriptor >= 0)
        close(descriptor);
    return descriptor >= 0;
}

/* --- abandoned files --- */

static bool is_partial(const char *name) {
    const size_t length = strlen(name), suffix = strlen(SUFFIX);
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && length > suffix &&
           strcmp(name + length - suffix, SUFFIX) == 0;
}

/* True if no process holds the lock, or the file is older than a day: some file systems do not show
 * the locks of other machines. */
static bool is_abandoned(int descriptor) {
    struct stat info;
    return fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
           (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || time(NULL) - info.st_mtime > A_DAY);
}

void partial_file_remove_abandoned(const char *path) {
    char *directory = strndup(path, (size_t)path_directory(path));
    DIR *stream = directory ? opendir(*directory ? directory : ".") : NULL;
    free(directory);
    if (!stream)
        return;
    for (const struct dirent *entry; (entry = readdir(stream));) {
        if (!is_partial(entry->d_name))
            continue;
        const int descriptor =
            openat(dirfd(stream), entry->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (descriptor < 0)
            continue;
        if (is_abandoned(descriptor))
            unlinkat(dirfd(stream), entry->d_name, 0);
        close(descriptor);
    }
    closedir(stream);
}
