/* Catalogues to streams and files. */
#define _GNU_SOURCE /* asprintf */
#include "output/save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/catalogue.h"

enum srcfind_status save_stream(const struct srcfind_catalogue *catalogue,
                                enum srcfind_format format, FILE *stream, const char *name,
                                struct error *error) {
    errno = 0;
    const bool ok =
        format == SRCFIND_JSON ? json_write(catalogue, stream) : csv_write(catalogue, stream);
    if (ok && fflush(stream) == 0)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OUTPUT, "%s: the catalogue cannot be written: %s", name,
                     strerror(errno ? errno : ENOMEM));
}

enum { MOST_LINKS = 16, BUFFER_BYTES = 1 << 16 };

/* The directory of a path, with its slash: "" or "a/b/" of "a/b/c". */
static int directory_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Where a path leads: links are followed, so that a link stays one, also if there is nothing at its
 * end. To be freed; NULL with errno set where that cannot be found out. */
static char *final_path(const char *path) {
    char target[PATH_MAX], *next, *at = strdup(path);
    for (int i = 0; at; i++) {
        const ssize_t length = readlink(at, target, sizeof target - 1);
        if (length < 0)
            return at;
        target[length] = '\0';
        const int kept = target[0] == '/' ? 0 : directory_length(at);
        if (asprintf(&next, "%.*s%s", kept, at, target) < 0)
            next = NULL;
        free(at);
        at = next;
        if (i == MOST_LINKS) {
            free(at);
            errno = ELOOP;
            return NULL;
        }
    }
    return at;
}

/* A device or a pipe is written to, not replaced. */
static bool is_special(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

/* What replaces a file has its permissions. */
static FILE *open_like(const char *path, int descriptor) {
    struct stat facts;
    if (stat(path, &facts) == 0)
        fchmod(descriptor, facts.st_mode & 07777);
    FILE *stream = fdopen(descriptor, "w");
    if (!stream)
        close(descriptor);
    return stream;
}

/* Makes a new file beside path. *name is to be freed. */
static FILE *open_beside(const char *path, char **name) {
    static atomic_uint number; /* as many threads may save in one directory as there are */
    for (int i = 0; i < 100; i++) {
        if (asprintf(name, "%.*s.srcfind-%ld-%u.part", directory_length(path), path, (long)getpid(),
                     atomic_fetch_add(&number, 1)) < 0) {
            *name = NULL;
            return NULL;
        }
        const int descriptor = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0)
            return open_like(path, descriptor);
        free(*name);
        *name = NULL;
        if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

static enum srcfind_status cannot(const char *path, struct error *error) {
    return error_set(error, SRCFIND_ERROR_OUTPUT, "%s: the catalogue cannot be written: %s", path,
                     strerror(errno));
}

static enum srcfind_status save_special(const struct srcfind_catalogue *catalogue,
                                        enum srcfind_format format, const char *path,
                                        struct error *error) {
    FILE *stream = fopen(path, "w");
    if (!stream)
        return cannot(path, error);
    enum srcfind_status status = save_stream(catalogue, format, stream, path, error);
    if (fclose(stream) != 0 && status == SRCFIND_OK)
        status = cannot(path, error);
    return status;
}

enum srcfind_status save_file(const struct srcfind_catalogue *catalogue, enum srcfind_format format,
                              const char *path, struct error *error) {
    char *beside = NULL, *final = NULL;
    if (is_special(path))
        return save_special(catalogue, format, path, error);
    final = final_path(path);
    if (!final)
        return cannot(path, error);
    FILE *stream = open_beside(final, &beside);
    enum srcfind_status status = SRCFIND_OK;
    if (!stream) {
        status = cannot(path, error);
    } else {
        char buffer[BUFFER_BYTES]; /* glibc makes one of 4 KiB, whatever size it is asked for */
        setvbuf(stream, buffer, _IOFBF, sizeof buffer);
        status = save_stream(catalogue, format, stream, path, error);
        if (fclose(stream) != 0 && status == SRCFIND_OK)
            status = cannot(path, error);
        if (status == SRCFIND_OK && rename(beside, final) != 0)
            status = cannot(path, error);
    }
    if (status != SRCFIND_OK && beside)
        unlink(beside);
    free(beside);
    free(final);
    return status;
}
