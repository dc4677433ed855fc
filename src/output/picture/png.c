#include "output/picture/png.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/path.h"

static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
static const char software[] = "Software\0srcfind " SRCFIND_VERSION; /* keyword and text */

enum { NAME = 4, LENGTH = 4, HEADER = 13, BUFFER = 1 << 16 };

static void put_number(unsigned char *bytes, uint32_t number) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(number >> (24 - 8 * i));
}

/* Writes a chunk: its length, its name, its bytes and their checksum. */
static bool write_chunk(FILE *file, const char *name, const void *bytes, size_t n) {
    unsigned char length[LENGTH], sum[LENGTH];
    uLong crc = crc32(0, (const Bytef *)name, NAME);
    if (n > 0)
        crc = crc32(crc, bytes, (uInt)n);
    put_number(length, (uint32_t)n);
    put_number(sum, (uint32_t)crc);
    return fwrite(length, 1, sizeof length, file) == sizeof length &&
           fwrite(name, 1, NAME, file) == NAME && fwrite(bytes, 1, n, file) == n &&
           fwrite(sum, 1, sizeof sum, file) == sizeof sum;
}

static bool write_header(FILE *file, int width, int height) {
    enum { BITS = 8, RGB = 2 };
    unsigned char header[HEADER] = {[8] = BITS, [9] = RGB};
    put_number(header, (uint32_t)width);
    put_number(header + 4, (uint32_t)height);
    return fwrite(signature, 1, sizeof signature, file) == sizeof signature &&
           write_chunk(file, "IHDR", header, sizeof header) &&
           write_chunk(file, "tEXt", software, sizeof software - 1);
}

/* Makes a row of PNG: the number of its filter (0: none), and three bytes a pixel. */
static void make_row(const uint32_t *pixels, int width, unsigned char *row) {
    *row++ = 0;
    for (int x = 0; x < width; x++) {
        *row++ = (unsigned char)(pixels[x] >> 16);
        *row++ = (unsigned char)(pixels[x] >> 8);
        *row++ = (unsigned char)pixels[x];
    }
}

/* Compresses the input of z, and writes all output if `flush` is Z_FINISH. */
static bool compress_input(z_stream *z, int flush, FILE *file) {
    unsigned char buffer[BUFFER];
    do {
        z->next_out = buffer;
        z->avail_out = BUFFER;
        deflate(z, flush);
        const size_t n = BUFFER - z->avail_out;
        if (n > 0 && !write_chunk(file, "IDAT", buffer, n))
            return false;
    } while (z->avail_out == 0);
    return true;
}

static bool write_pixels(z_stream *z, const uint32_t *pixels, int width, int height,
                         unsigned char *row, FILE *file) {
    bool ok = true;
    for (int y = 0; ok && y < height; y++) {
        make_row(pixels + (int64_t)y * width, width, row);
        z->next_in = row;
        z->avail_in = 3 * (uInt)width + 1;
        ok = compress_input(z, y == height - 1 ? Z_FINISH : Z_NO_FLUSH, file);
    }
    return ok;
}

enum srcfind_status png_write(const uint32_t *pixels, int width, int height, FILE *file,
                              const char *name, struct error *error) {
    z_stream z = {0};
    unsigned char *row = malloc(3 * (size_t)width + 1);
    if (!row || deflateInit(&z, Z_BEST_SPEED) != Z_OK) {
        free(row);
        return error_memory(error, "writing a picture");
    }
    const bool ok = write_header(file, width, height) &&
                    write_pixels(&z, pixels, width, height, row, file) &&
                    write_chunk(file, "IEND", "", 0) && fflush(file) == 0;
    const int code = errno;
    deflateEnd(&z);
    free(row);
    return ok ? SRCFIND_OK
              : error_set(error, SRCFIND_ERROR_OUTPUT, "%s: the picture cannot be written: %s",
                          name, strerror(code));
}

bool png_is_own(const char *path) {
    const long text = sizeof signature + LENGTH + NAME + HEADER + LENGTH + LENGTH + NAME;
    return path_has_bytes(path, 0, SEEK_SET, signature, sizeof signature) &&
           path_has_bytes(path, text, SEEK_SET, software,
                          strlen(software) + 1 + strlen("srcfind "));
}

bool png_is_whole(const char *path) {
    static const char end[] = "\0\0\0\0IEND\xae\x42\x60\x82";
    return path_has_bytes(path, 0, SEEK_SET, signature, sizeof signature) &&
           path_has_bytes(path, -(long)(sizeof end - 1), SEEK_END, end, sizeof end - 1);
}
