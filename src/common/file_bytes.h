/* Reads and writes at an offset of an open file: all bytes, though a signal cuts a call short. */
#ifndef FILE_BYTES_H
#define FILE_BYTES_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* Reads n bytes, or as many as there are. Returns how many; -1 with errno. */
static inline int64_t file_bytes_read(int file, void *bytes, int64_t n, int64_t offset) {
    int64_t done = 0;
    for (ssize_t got = 1; done < n && got != 0;) {
        got = pread(file, (char *)bytes + done, (size_t)(n - done), offset + done);
        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? got : 0;
    }
    return done;
}

/* Writes n bytes. False with errno. */
static inline bool file_bytes_write(int file, const void *bytes, int64_t n, int64_t offset) {
    for (int64_t done = 0; done < n;) {
        const ssize_t written =
            pwrite(file, (const char *)bytes + done, (size_t)(n - done), offset + done);
        if (written == 0)
            errno = EIO;
        if (written == 0 || (written < 0 && errno != EINTR))
            return false;
        done += written > 0 ? written : 0;
    }
    return true;
}

#endif
