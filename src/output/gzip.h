/* Compresses in gzip's format (RFC 1952), in pieces: several threads may compress pieces of a text
 * at the same time. The header has neither time nor name, so that the same pieces give the same
 * bytes. */
#ifndef GZIP_H
#define GZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A piece of a text, compressed without the others. */
struct gzip_piece {
    unsigned char *bytes;
    size_t size;
    int64_t text_size;
    uint32_t crc; /* of the text */
};

/* Compresses n bytes. False where memory ran out, or for more than 2^31 bytes. Clear the piece also
 * then. */
bool gzip_compress(const char *text, size_t n, struct gzip_piece *piece);
void gzip_clear(struct gzip_piece *piece);

/* A compressed file. */
struct gzip {
    FILE *file;
    int64_t text_size;
    uint32_t crc;
};

/* Each call writes to the file; false with errno. Pieces are added in the order of the text. The
 * file stays open. */
bool gzip_begin(struct gzip *gzip, FILE *file);
bool gzip_add(struct gzip *gzip, const struct gzip_piece *piece);
bool gzip_end(struct gzip *gzip);

#endif
