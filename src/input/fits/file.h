/* A file with FITS data: as it lies on the disk, or gzipped as a whole. Nothing is taken from it
 * but what was asked for by place and size, and both are checked. */
#ifndef FITS_FILE_H
#define FITS_FILE_H

#include <time.h>

#include "common/error.h"

struct gunzip;

struct fits_file {
    const char *path; /* not owned */
    int descriptor;
    int64_t size;          /* bytes on the disk */
    struct timespec time;  /* when they were last written */
    struct gunzip *unpack; /* NULL unless it is gzipped as a whole */
};

/* Opens a file that begins as FITS does; close it also after an error. */
enum srcfind_status fits_file_open(struct fits_file *file, const char *path, struct error *error);
void fits_file_close(struct fits_file *file);

/* Whether the file has `end` bytes. A gzipped one is unpacked so far, to memory; that is for one
 * thread. */
enum srcfind_status fits_file_reach(struct fits_file *file, int64_t end, bool *reached,
                                    struct error *error);

/* When all is reached that will be: whether what a gzipped file has its checksum for is sound. */
enum srcfind_status fits_file_checksum(struct fits_file *file, struct error *error);

/* An error where the file is no longer what it was when it was opened. */
enum srcfind_status fits_file_unchanged(const struct fits_file *file, struct error *error);

/* How many bytes the file has; of a gzipped one, how many are unpacked. */
int64_t fits_file_size(const struct fits_file *file);

/* Reads count bytes at an offset, all of them; an error if the file ends before, or was not
 * unpacked so far. Several threads may. */
enum srcfind_status fits_file_read(const struct fits_file *file, void *buffer, int64_t count,
                                   int64_t offset, struct error *error);

#endif
