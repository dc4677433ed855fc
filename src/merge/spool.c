#include "merge/spool.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

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

bool spool_add(struct spool *spool, const void *bytes, size_t n, int64_t *offset) {
    *offset = atomic_fetch_add(&spool->size, (int64_t)n);
    for (size_t done = 0; done < n;) {
        const ssize_t written =
            pwrite(spool->descriptor, (const char *)bytes + done, n - done, *offset + (off_t)done);
        if (written < 0 && errno != EINTR)
            return false;
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

bool spool_read(const struct spool *spool, void *bytes, size_t n, int64_t offset) {
    for (size_t done = 0; done < n;) {
        const ssize_t got =
            pread(spool->descriptor, (char *)bytes + done, n - done, offset + (off_t)done);
        if (got == 0)
            errno = EIO;
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}
