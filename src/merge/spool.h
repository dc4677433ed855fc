/* Bytes in a temporary file without a name. The end of the process, however it ends, removes the
 * file. */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool {
    int descriptor; /* -1: closed */
    _Atomic int64_t size;
};

/* Makes the file in the directory of a path, or in /tmp if the path is NULL or that of a device.
 * False with errno. */
bool spool_open(struct spool *spool, const char *path);
void spool_close(struct spool *spool);

/* Reserves room for n bytes, to be written later. Returns its offset. */
int64_t spool_reserve(struct spool *spool, size_t n);

/* Adds n bytes, and sets *offset to their offset. False with errno. Several threads may add, write
 * and read at the same time. */
bool spool_add(struct spool *spool, const void *bytes, size_t n, int64_t *offset);

/* Writes n bytes at an offset that was added or reserved. False with errno. */
bool spool_write(const struct spool *spool, const void *bytes, size_t n, int64_t offset);

/* Reads n bytes that were added. False with errno. */
bool spool_read(const struct spool *spool, void *bytes, size_t n, int64_t offset);

#endif
