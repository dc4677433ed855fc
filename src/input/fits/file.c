#include "input/fits/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_bytes.h"
#include "input/fits/gunzip.h"

static enum srcfind_status ends_early(const struct fits_file *file, int64_t at,
                                      struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: the file ends after %lld bytes, before its data do: is it still being "
                     "written?",
                     file->path, (long long)at);
}

enum srcfind_status fits_file_read(const struct fits_file *file, void *buffer, int64_t count,
                                   int64_t offset, struct error *error) {
    if (file->gunzip)
        return gunzip_copy(file->gunzip, buffer, count, offset)
                   ? SRCFIND_OK
                   : ends_early(file, gunzip_size(file->gunzip), error);
    const int64_t n = file_bytes_read(file->descriptor, buffer, count, offset);
    if (n < 0)
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: %s while reading", file->path,
                         strerror(errno));
    return n < count ? ends_early(file, offset + n, error) : SRCFIND_OK;
}

enum srcfind_status fits_file_reach(struct fits_file *file, int64_t end, bool *reached,
                                    struct error *error) {
    *reached = end <= file->version.size;
    return file->gunzip ? gunzip_reach(file->gunzip, file->path, end, reached, error) : SRCFIND_OK;
}

enum srcfind_status fits_file_checksum(struct fits_file *file, struct error *error) {
    return file->gunzip ? gunzip_check(file->gunzip, file->path, error) : SRCFIND_OK;
}

enum srcfind_status fits_file_unchanged(const struct fits_file *file,
                                        const struct fits_version *version, struct error *error) {
    struct stat info;
    if (fstat(file->descriptor, &info) == 0 &&
        fits_version_is(version, &(struct fits_version){info.st_size, info.st_mtim}))
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: the file was changed while it was read: is it still being written?",
                     file->path);
}

int64_t fits_file_size(const struct fits_file *file) {
    return file->gunzip ? gunzip_size(file->gunzip) : file->version.size;
}

/* Names the program that packed the file as a whole, by the file's first bytes: "" for a FITS file,
 * NULL for an unknown format. */
static const char *packing_of(const char *start, int64_t count) {
    static const struct {
        const char *start, *packing;
    } kinds[] = {{"SIMPLE  =", ""},
                 {"\x1f\x8b", "gzip"},
                 {"\x1f\x9d", "compress"},
                 {"BZh", "bzip2"},
                 {"PK\x03\x04", "zip"},
                 {"\xfd"
                  "7zXZ",
                  "xz"},
                 {"\x28\xb5\x2f\xfd", "zstd"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].start);
        if (length <= (size_t)count && memcmp(start, kinds[i].start, length) == 0)
            return kinds[i].packing;
    }
    return NULL;
}

static enum srcfind_status look_at_start(struct fits_file *file, struct error *error) {
    char start[9] = "";
    const int64_t count = file->version.size < 9 ? file->version.size : 9;
    const enum srcfind_status status = fits_file_read(file, start, count, 0, error);
    if (status != SRCFIND_OK)
        return status;
    const char *packing = packing_of(start, count);
    if (!packing)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: not a FITS file: it does not begin with SIMPLE", file->path);
    if (strcmp(packing, "gzip") == 0)
        return gunzip_open(&file->gunzip, file->descriptor, file->version.size, error);
    if (*packing)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: packed by %s: unpack it first, or pack it with gzip or fpack",
                         file->path, packing);
    return SRCFIND_OK;
}

enum { HINT = 256 };

/* Writes which options stand for the end of a path in brackets, as CFITSIO takes it: a section of
 * an image, FILE[X0:X1,Y0:Y1], or an HDU. */
static void hint_for_brackets(const char *path, char hint[HINT]) {
    const char *bracket = strrchr(path, '[');
    long long x0, x1, y0, y1;
    int end = 0;
    if (bracket && sscanf(bracket, "[%lld:%lld,%lld:%lld%n", &x0, &x1, &y0, &y1, &end) == 4 &&
        end > 0)
        snprintf(hint, HINT, ": --trim %lld,%lld,%lld,%lld chooses this part of an image%s", x0, x1,
                 y0, y1, bracket[end] == ',' ? ", and --plane a plane" : "");
    else
        snprintf(hint, HINT, ": --hdu, --plane and --trim choose a part of a file");
}

/* Writes the way out if there is no file of a path; "" if the path tells none. */
static void hint_for(const char *path, char hint[HINT]) {
    const size_t length = strlen(path);
    *hint = '\0';
    if (length > 0 && path[length - 1] == ']')
        hint_for_brackets(path, hint);
    else if (strstr(path, "://"))
        snprintf(hint, HINT, ": an image is a file, not a URL: download it first");
    else if (strpbrk(path, "*?"))
        snprintf(hint, HINT, ": the shell found no file of this pattern");
}

static enum srcfind_status cannot_open(const char *path, int reason, struct error *error) {
    char hint[HINT] = "";
    if (reason == ENOENT)
        hint_for(path, hint);
    return error_set(error, SRCFIND_ERROR_INPUT, "%s: %s%s", path, strerror(reason), hint);
}

/* Calls fstat on the open file, so that nobody can replace the file between open and stat.
 * O_NONBLOCK: open must not wait at a pipe that nobody writes to. What is no file is an error, with
 * the message for a directory or for a stream. */
static enum srcfind_status open_regular(struct fits_file *file, const char *path,
                                        const char *directory, const char *stream,
                                        struct error *error) {
    struct stat info;
    *file = (struct fits_file){.path = path};
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->descriptor < 0 || fstat(file->descriptor, &info) != 0)
        return cannot_open(path, errno, error);
    if (!S_ISREG(info.st_mode))
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: %s", path,
                         S_ISDIR(info.st_mode) ? directory : stream);
    file->version.size = info.st_size;
    file->version.time = info.st_mtim;
    return SRCFIND_OK;
}

enum srcfind_status fits_file_open_any(struct fits_file *file, const char *path,
                                       struct error *error) {
    return open_regular(file, path, "a directory, not a file",
                        "a device, pipe or socket, not a file", error);
}

enum srcfind_status fits_file_open(struct fits_file *file, const char *path, struct error *error) {
    const enum srcfind_status status =
        open_regular(file, path, "a directory: name the images in it",
                     "a device, pipe or socket, not a file with an image", error);
    if (status != SRCFIND_OK)
        return status;
    if (file->version.size == 0)
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: the file is empty", path);
    return look_at_start(file, error);
}

void fits_file_close(struct fits_file *file) {
    gunzip_close(file->gunzip);
    if (file->descriptor >= 0)
        close(file->descriptor);
    *file = (struct fits_file){.descriptor = -1};
}
