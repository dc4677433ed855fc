#include "input/fits/gunzip.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/arrays.h"
#include "common/file_bytes.h"

enum {
    INPUT = 1 << 16,
    LARGE = 1 << 20, /* so many bytes are unpacked at once, if they are most of a file */
    STEP = 1 << 20,  /* in which the output grows at least: its size is known only at the end */
    GZIP_ONLY = 16 + MAX_WBITS, /* the windowBits for which zlib accepts gzip alone */
};

struct gunzip {
    int descriptor;
    int64_t size, read; /* bytes of the file; bytes read so far */
    z_stream stream;
    bool ended;
    bool is_by_zlib;      /* the file was not unpacked at once when most of it was wanted */
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
                     code == Z_BUF_ERROR ? "%s: truncated: the gzip data end after %lld bytes"
                                         : "%s: the gzip data are damaged after %lld bytes",
                     path, (long long)g->unpacked);
}

/* --- a whole file at once --- */

/* The size of what a file of one member unpacks to, by its last bytes; 0 if it has none. */
static int64_t size_at_end(const struct gunzip *g) {
    unsigned char last[4];
    if (g->size < (int64_t)sizeof last ||
        file_bytes_read(g->descriptor, last, sizeof last, g->size - (int64_t)sizeof last) !=
            (int64_t)sizeof last)
        return 0;
    return last[0] | last[1] << 8 | last[2] << 16 | (int64_t)last[3] << 24;
}

/* Unpacks the whole file to bytes, of `capacity`. False unless it has one member of this size. */
static bool unpack_member(const struct gunzip *g, unsigned char *bytes, int64_t capacity) {
    unsigned char *packed = arrays_allocate(g->size, 1);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t n_read = 0, n = 0;
    const bool ok =
        packed && d && file_bytes_read(g->descriptor, packed, g->size, 0) == g->size &&
        libdeflate_gzip_decompress_ex(d, packed, (size_t)g->size, bytes, (size_t)capacity, &n_read,
                                      &n) == LIBDEFLATE_SUCCESS &&
        (int64_t)n_read == g->size && (int64_t)n == capacity;
    libdeflate_free_decompressor(d);
    free(packed);
    return ok;
}

/* Unpacks the whole file at once, by libdeflate, which takes half the time of zlib but cannot stop
 * before the end: where most of a large file is wanted, up to `end`. False where that is not so, or
 * for a file of several members or of 4 GiB, or that is damaged. */
static bool unpack_all(struct gunzip *g, int64_t end) {
    const int64_t size = size_at_end(g);
    if (end > size || end < size / 2 || size / GUNZIP_MOST_RATIO > g->size)
        return false;
    unsigned char *bytes = arrays_allocate(size, 1);
    if (!bytes || !unpack_member(g, bytes, size)) {
        free(bytes);
        return false;
    }
    free(g->bytes);
    g->bytes = bytes;
    g->unpacked = g->capacity = size;
    g->ended = true;
    return true;
}

enum srcfind_status gunzip_reach(struct gunzip *g, const char *path, int64_t end, bool *reached,
                                 struct error *error) {
    *reached = false;
    if (end / GUNZIP_MOST_RATIO > g->size)
        return SRCFIND_OK;
    if (end > g->unpacked && !g->ended && !g->is_by_zlib)
        g->is_by_zlib = end >= LARGE && !unpack_all(g, end);
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
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t n = 0;
    const bool ok = d && libdeflate_gzip_decompress(d, packed, (size_t)count, bytes,
                                                    (size_t)capacity, &n) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(d);
    return ok ? (int64_t)n : -1;
}
