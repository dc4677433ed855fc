#include "merge/spool.h"

#include <stdio.h>

#include "common/file_bytes.h"
#include "common/path.h"
#include "output/partial_file.h"

bool spool_open(struct spool *spool, const char *path) {
    static const char temporary[] = P_tmpdir "/";
    struct partial_file file;
    *spool = (struct spool){.descriptor = -1};
    if (!partial_file_open(path && !path_is_stream(path) ? path : temporary, &file))
        return false;
    spool->descriptor = partial_file_forget(&file);
    return spool->descriptor >= 0;
}

void spool_close(struct spool *spool) {
    if (spool->descriptor >= 0)
        close(spool->descriptor);
    spool->descriptor = -1;
}

int64_t spool_reserve(struct spool *spool, size_t n) {
    return atomic_fetch_add(&spool->size, (int64_t)n);
}

bool spool_add(struct spool *spool, const void *bytes, size_t n, int64_t *offset) {
    *offset = spool_reserve(spool, n);
    return spool_write(spool, bytes, n, *offset);
}

bool spool_write(const struct spool *spool, const void *bytes, size_t n, int64_t offset) {
    return file_bytes_write(spool->descriptor, bytes, (int64_t)n, offset);
}

bool spool_read(const struct spool *spool, void *bytes, size_t n, int64_t offset) {
    const int64_t got = file_bytes_read(spool->descriptor, bytes, (int64_t)n, offset);
    if (got >= 0 && got < (int64_t)n)
        errno = EIO;
    return got == (int64_t)n;
}
