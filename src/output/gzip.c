#include "output/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

/* A piece is a deflate stream without an end (RFC 1951), flushed to a whole byte, and without
 * references to the piece before. Pieces one after the other are one stream. */
enum { RAW = -15, MEMORY = 8, FLUSH_BYTES = 16 };

bool gzip_compress(const char *text, size_t n, struct gzip_piece *piece) {
    z_stream z = {.next_in = (z_const Bytef *)text, .avail_in = (uInt)n};
    *piece = (struct gzip_piece){.text_size = (int64_t)n};
    errno = ENOMEM;
    if (n > INT32_MAX || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW, MEMORY,
                                      Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    const size_t most = deflateBound(&z, n) + FLUSH_BYTES;
    piece->bytes = malloc(most);
    z.next_out = piece->bytes;
    z.avail_out = (uInt)most;
    const bool ok = piece->bytes && deflate(&z, Z_SYNC_FLUSH) == Z_OK && z.avail_out > 0;
    piece->size = most - z.avail_out;
    piece->crc = (uint32_t)crc32(crc32(0, NULL, 0), (const Bytef *)text, (uInt)n);
    deflateEnd(&z);
    return ok;
}

void gzip_clear(struct gzip_piece *piece) {
    free(piece->bytes);
    piece->bytes = NULL;
}

static bool put(struct gzip *gzip, const void *bytes, size_t n) {
    return fwrite(bytes, 1, n, gzip->file) == n;
}

bool gzip_begin(struct gzip *gzip, FILE *file) {
    static const unsigned char header[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3}; /* Unix */
    *gzip = (struct gzip){.file = file, .crc = (uint32_t)crc32(0, NULL, 0)};
    return put(gzip, header, sizeof header);
}

bool gzip_add(struct gzip *gzip, const struct gzip_piece *piece) {
    gzip->crc = (uint32_t)crc32_combine(gzip->crc, piece->crc, piece->text_size);
    gzip->text_size += piece->text_size;
    return put(gzip, piece->bytes, piece->size);
}

bool gzip_end(struct gzip *gzip) {
    unsigned char last[] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0}; /* an empty block that ends the stream */
    for (int i = 0; i < 4; i++) {
        last[2 + i] = (unsigned char)(gzip->crc >> 8 * i);
        last[6 + i] = (unsigned char)((uint64_t)gzip->text_size >> 8 * i);
    }
    return put(gzip, last, sizeof last);
}
