/* A FITS file on the disk, uncompressed or gzipped as a whole. It is read by offset and size, and
 * both are checked against the size of the file. */
#ifndef FITS_FILE_H
#define FITS_FILE_H

#include <time.h>

#include "common/error.h"

struct gunzip;

/* The version of a file: differs after the file was changed. */
struct fits_version {
    int64_t size;         /* bytes on the disk */
    struct timespec time; /* of the last modification */
};

static inline bool fits_version_is(const struct fits_version *a, const struct fits_version *b) {
    return a->size == b->size && a->time.tv_sec == b->time.tv_sec &&
           a->time.tv_nsec == b->time.tv_nsec;
}

struct fits_file {
    const char *path; /* not owned */
    int descriptor;
    struct fits_version version;
    struct gunzip *gunzip; /* NULL unless the file is gzipped as a whole */
};

/* Opens a file and checks that it begins with SIMPLE or is gzipped. It keeps `path`. Close it also
 * after an error. */
enum srcfind_status fits_file_open(struct fits_file *file, const char *path, struct error *error);

/* Opens a file of any content, also an empty one, to be read as it is on the disk. */
enum srcfind_status fits_file_open_any(struct fits_file *file, const char *path,
                                       struct error *error);
void fits_file_close(struct fits_file *file);

/* Sets *reached to whether the file has `end` bytes. A gzipped file is unpacked to memory up to
 * there; only one thread may do so. */
enum srcfind_status fits_file_reach(struct fits_file *file, int64_t end, bool *reached,
                                    struct error *error);

/* Checks the next checksum of a gzipped file. To be called last: fits_file_reach unpacks no more
 * bytes after it. */
enum srcfind_status fits_file_checksum(struct fits_file *file, struct error *error);

/* Returns an error if the file is no longer this version of it: its size or modification time has
 * changed. */
enum srcfind_status fits_file_unchanged(const struct fits_file *file,
                                        const struct fits_version *version, struct error *error);

/* The size of the file in bytes; of a gzipped file, the number of bytes unpacked so far. */
int64_t fits_file_size(const struct fits_file *file);

/* Reads count bytes at an offset. An error if the file ends before, or was not unpacked up to
 * there. Several threads may call it at the same time. */
enum srcfind_status fits_file_read(const struct fits_file *file, void *buffer, int64_t count,
                                   int64_t offset, struct error *error);

#endif
