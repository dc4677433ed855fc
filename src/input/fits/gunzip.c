#include "input/fits/gunzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    INPUT = 1 << 16,
    FIRST_ROOM = 1 << 20,
    GZIP_ONLY = 16 + MAX_WBITS, /* as zlib wants to be told */
    MOST_OUTPUT_A_BYTE = 1032,  /* deflate's greatest ratio */
};

struct gunzip {
    int descriptor;
    int64_t size, read; /* bytes of the file; those of them that were read */
    z_stream stream;
    bool ended;
    unsigned char *bytes; /* `unpacked` of them, in room for `room` */
    int64_t unpacked, room;
    unsigned char input[INPUT];
};

enum srcfind_status gunzip_open(struct gunzip **gunzip, int descriptor, int64_t size,
                                struct error *error) {
    struct gunzip *g = calloc(1, sizeof *g);
    if (!g || inflateInit2(&g->stream, GZIP_ONLY) != Z_OK) {
        free(g);
        return error_memory(error, "opening an image");
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

/* Reads some more of the file; false on an error. */
static bool refill(struct gunzip *g) {
    ssize_t n;
    do
        n = pread(g->descriptor, g->input, sizeof g->input, g->read);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return false;
    g->read += n;
    g->stream.next_in = g->input;
    g->stream.avail_in = (uInt)n;
    return true;
}

/* Room for more, in steps: how much there is, only the end tells. */
static bool grow(struct gunzip *g) {
    const int64_t room = g->room + g->room / 2 + FIRST_ROOM;
    unsigned char *bytes = realloc(g->bytes, (size_t)room);
    if (!bytes)
        return false;
    g->bytes = bytes;
    g->room = room;
    return true;
}

/* A member of the file has ended: another may follow, and what is none is left alone, as by gunzip.
 * False on an error. */
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

/* Unpacks some more; *count is room, and becomes how many bytes there were. Returns zlib's code, of
 * which Z_BUF_ERROR is a file that ends too early, and Z_ERRNO one that cannot be read. */
static int unpack_some(struct gunzip *g, unsigned char *bytes, int64_t *count) {
    const uInt room = *count < 1 << 30 ? (uInt)*count : 1 << 30;
    *count = 0;
    if (g->stream.avail_in == 0 && !refill(g))
        return Z_ERRNO;
    g->stream.next_out = bytes;
    g->stream.avail_out = room;
    const int code = inflate(&g->stream, Z_NO_FLUSH);
    *count = room - g->stream.avail_out;
    return code == Z_STREAM_END && !next_member(g) ? Z_ERRNO : code;
}

/* Words one of zlib's codes. */
static enum srcfind_status failure(const struct gunzip *g, const char *path, int code,
                                   struct error *error) {
    if (code == Z_MEM_ERROR)
        return error_memory(error, "unpacking an image");
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
    if (end / MOST_OUTPUT_A_BYTE > g->size)
        return SRCFIND_OK;
    while (g->unpacked < end && !g->ended) {
        if (g->unpacked == g->room && !grow(g))
            return failure(g, path, Z_MEM_ERROR, error);
        int64_t count = (end < g->room ? end : g->room) - g->unpacked;
        const int code = unpack_some(g, g->bytes + g->unpacked, &count);
        g->unpacked += count;
        if (code != Z_OK && code != Z_STREAM_END)
            return failure(g, path, code, error);
    }
    *reached = g->unpacked >= end;
    return SRCFIND_OK;
}

enum srcfind_status gunzip_check(struct gunzip *g, const char *path, struct error *error) {
    unsigned char nowhere[INPUT];
    int code = g->ended ? Z_STREAM_END : Z_OK;
    while (code == Z_OK) {
        int64_t count = sizeof nowhere;
        code = unpack_some(g, nowhere, &count);
    }
    g->ended = true;
    return code == Z_STREAM_END ? SRCFIND_OK : failure(g, path, code, error);
}

int64_t gunzip_size(const struct gunzip *gunzip) {
    return gunzip->unpacked;
}

bool gunzip_copy(const struct gunzip *gunzip, void *buffer, int64_t count, int64_t offset) {
    if (offset < 0 || count < 0 || count > gunzip->unpacked || offset > gunzip->unpacked - count)
        return false;
    memcpy(buffer, gunzip->bytes + offset, (size_t)count);
    return true;
}

int64_t gunzip_bytes(const unsigned char *packed, int64_t count, unsigned char *bytes,
                     int64_t room) {
    z_stream stream = {.next_in = (Bytef *)packed,
                       .avail_in = (uInt)count,
                       .next_out = bytes,
                       .avail_out = (uInt)room};
    if (count > UINT32_MAX || room > UINT32_MAX || inflateInit2(&stream, GZIP_ONLY) != Z_OK)
        return -1;
    const int code = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return code == Z_STREAM_END ? room - stream.avail_out : -1;
}
