#include "common/path.h"

#include <stdio.h>
#include <sys/stat.h>

#include "common/ascii.h"

static const char *const compressed_suffixes[] = {".gz", ".fz"};
static const char *const image_suffixes[] = {".fits", ".fit", ".fts"};

enum {
    COMPRESSED_SUFFIXES = sizeof compressed_suffixes / sizeof *compressed_suffixes,
    IMAGE_SUFFIXES = sizeof image_suffixes / sizeof *image_suffixes,
};

/* The length of a name without the first of n suffixes that it ends with; a name that has nothing
 * else keeps it. */
static size_t length_without(const char *name, size_t length, const char *const *suffixes, int n) {
    for (int i = 0; i < n; i++) {
        const size_t size = strlen(suffixes[i]);
        if (length > size && ascii_same_start(name + length - size, suffixes[i], size))
            return length - size;
    }
    return length;
}

bool path_ends_with(const char *path, const char *end) {
    const size_t n = strlen(path), m = strlen(end);
    return n >= m && ascii_same(path + n - m, end);
}

int path_before_suffix(const char *path) {
    const int directory = path_directory(path);
    const int length = (int)strlen(path) - (path_ends_with(path, ".gz") ? (int)strlen(".gz") : 0);
    for (int i = length - 1; i > directory; i--)
        if (path[i] == '.')
            return i;
    return length;
}

bool path_is_same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool path_is_stream(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

bool path_has_bytes(const char *path, long offset, int whence, const void *bytes, size_t n) {
    char found[64];
    FILE *file = n <= sizeof found ? fopen(path, "rb") : NULL;
    const bool same = file && fseek(file, offset, whence) == 0 && fread(found, 1, n, file) == n &&
                      memcmp(found, bytes, n) == 0;
    if (file)
        fclose(file);
    return same;
}

bool path_is_compressed(const char *path) {
    const size_t length = strlen(path);
    return length_without(path, length, compressed_suffixes, COMPRESSED_SUFFIXES) < length;
}

int path_stem(const char *name) {
    const size_t length =
        length_without(name, strlen(name), compressed_suffixes, COMPRESSED_SUFFIXES);
    return (int)length_without(name, length, image_suffixes, IMAGE_SUFFIXES);
}
