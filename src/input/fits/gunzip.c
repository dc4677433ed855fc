#include "input/fits/gunzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/arrays.h"
#include "common/file_bytes.h"

enum {
    INPUT = 1 << 16,
    STEP = 1 << 20, /* in which the output grows at least: its size is known only at the end */
    GZIP_ONLY = 16 + MAX_WBITS, /* the windowBits for which zlib accepts gzip alone */
};

struct gunzip {
    int descriptor;
    int64_t size, read; /* bytes of the file; bytes read so far */
    z_stream stream;
    bool ended;
    unsigned char *bytes; /* the unpacked bytes */
    int64_t unpacked, capacity;
    unsigned char input[INPUT];
};

enum srcfind_status gunzip_open(struct gunzip **gunzip, int descriptor, int64_t size,
                                struct error *error) {
    struct gunzip *g = calloc(1, sizeof *g);
    if (!g || inflateInit2(&g->stream, GZIP_ONLY) != Z_OK) {
        free(g);
        return error_memory(error, "opening a file");
    }
    g->descriptor = descriptor;
    g->size = size;
    *gunzip = g;
    return SRCFIND_OK;
}

void gunzip_close(struct gunzip *gunzip) {
    if (!gunzip)
        return;
    inflateEnd(&gunzip->stream);
    free(gunzip->bytes);
    free(gunzip);
}

/* Reads the next bytes of the file to the input buffer; false on an error. */
static bool refill(struct gunzip *g) {
    const int64_t n = file_bytes_read(g->descriptor, g->input, sizeof g->input, g->read);
    if (n < 0)
        return false;
    g->read += n;
    g->stream.next_in = g->input;
    g->stream.avail_in = (uInt)n;
    return true;
}

/* Called at the end of a member of the gzip file: starts the next member, if there is one. Other
 * bytes that follow are ignored, as by the gunzip command. False on an error. */
static bool next_member(struct gunzip *g) {
    enum { MAGIC = 2 };
    if (g->stream.avail_in < MAGIC) {
        g->read -= g->stream.avail_in;
        if (!refill(g))
            return false;
    }
    const unsigned char *next = g->stream.next_in;
    g->ended = g->stream.avail_in < MAGIC || next[0] != 0x1f || next[1] != 0x8b ||
               inflateReset(&g->stream) != Z_OK;
    return true;
}

/* Unpacks the next bytes. *count is the capacity of `bytes`, and is set to the number of bytes
 * unpacked. Returns zlib's code: Z_BUF_ERROR for a file that ends too early, Z_ERRNO for one that
 * cannot be read. */
static int unpack_next(struct gunzip *g, unsigned char *bytes, int64_t *count) {
    const uInt capacity = *count < 1 << 30 ? (uInt)*count : 1 << 30;
    *count = 0;
    if (g->stream.avail_in == 0 && !refill(g))
        return Z_ERRNO;
    g->stream.next_out = bytes;
    g->stream.avail_out = capacity;
    const int code = inflate(&g->stream, Z_NO_FLUSH);
    *count = capacity - g->stream.avail_out;
    return code == Z_STREAM_END && !next_member(g) ? Z_ERRNO : code;
}

/* Sets the error of a zlib code. */
static enum srcfind_status failure(const struct gunzip *g, const char *path, int code,
                                   struct error *error) {
    if (code == Z_MEM_ERROR)
        return error_memory(error, "unpacking a file");
    if (code == Z_ERRNO)
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: %s while reading", path, strerror(errno));
    return error_set(error, SRCFIND_ERROR_INPUT,
                     code == Z_BUF_ERROR ? "%s: truncated: what gzip packed ends after %lld bytes"
                                         : "%s: what gzip packed is damaged after %lld bytes",
                     path, (long long)g->unpacked);
}

enum srcfind_status gunzip_reach(struct gunzip *g, const char *path, int64_t end, bool *reached,
                                 struct error *error) {
    *reached = false;
    if (end / GUNZIP_MOST_RATIO > g->size)
        return SRCFIND_OK;
    while (g->unpacked < end && !g->ended) {
        if (g->unpacked == g->capacity && !GROW(g->bytes, g->capacity, g->capacity + STEP))
            return failure(g, path, Z_MEM_ERROR, error);
        int64_t count = (end < g->capacity ? end : g->capacity) - g->unpacked;
        const int code = unpack_next(g, g->bytes + g->unpacked, &count);
        g->unpacked += count;
        if (code != Z_OK && code != Z_STREAM_END)
            return failure(g, path, code, error);
    }
    *reached = g->unpacked >= end;
    return SRCFIND_OK;
}

enum srcfind_status gunzip_check(struct gunzip *g, const char *path, struct error *error) {
    unsigned char discarded[INPUT];
    int code = g->ended ? Z_STREAM_END : Z_OK;
    while (code == Z_OK) {
        int64_t count = sizeof discarded;
        code = unpack_next(g, discarded, &count);
    }
    g->ended = true;
    return code == Z_STREAM_END ? SRCFIND_OK : failure(g, path, code, error);
}

int64_t gunzip_size(const struct gunzip *gunzip) {
    return gunzip->unpacked;
}

const char *gunzip_data(const struct gunzip *gunzip) {
    return (const char *)gunzip->bytes;
}

bool gunzip_copy(const struct gunzip *gunzip, void *buffer, int64_t count, int64_t offset) {
    if (offset < 0 || count < 0 || count > gunzip->unpacked || offset > gunzip->unpacked - count)
        return false;
    memcpy(buffer, gunzip->bytes + offset, (size_t)count);
    return true;
}

int64_t gunzip_bytes(const unsigned char *packed, int64_t count, unsigned char *bytes,
                     int64_t capacity) {
    z_stream stream = {.next_in = (Bytef *)packed,
                       .avail_in = (uInt)count,
                       .next_out = bytes,
                       .avail_out = (uInt)capacity};
    if (count > UINT32_MAX || capacity > UINT32_MAX || inflateInit2(&stream, GZIP_ONLY) != Z_OK)
        return -1;
    const int code = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return code == Z_STREAM_END ? capacity - stream.avail_out : -1;
}
