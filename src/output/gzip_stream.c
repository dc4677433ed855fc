#define _GNU_SOURCE /* fopencookie */
#include "output/gzip_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP = 15 + 16, BUFFER = 1 << 16 }; /* zlib's code for gzip, with its largest window */

struct gzip {
    FILE *to;
    z_stream z;
    unsigned char buffer[BUFFER];
};

/* Compresses what z has, and all of it if `flush` is Z_FINISH. */
static bool compress_input(struct gzip *g, int flush) {
    do {
        g->z.next_out = g->buffer;
        g->z.avail_out = BUFFER;
        deflate(&g->z, flush);
        const size_t n = BUFFER - g->z.avail_out;
        if (fwrite(g->buffer, 1, n, g->to) != n)
            return false;
    } while (g->z.avail_out == 0);
    return true;
}

static ssize_t write_gzip(void *cookie, const char *text, size_t n) {
    struct gzip *g = cookie;
    const uInt most = 1 << 30, taken = n < most ? (uInt)n : most;
    g->z.next_in = (z_const Bytef *)text;
    g->z.avail_in = taken;
    return compress_input(g, Z_NO_FLUSH) ? (ssize_t)taken : 0;
}

static int close_gzip(void *cookie) {
    struct gzip *g = cookie;
    g->z.avail_in = 0;
    const bool ok = compress_input(g, Z_FINISH);
    const int code = errno;
    deflateEnd(&g->z);
    free(g);
    errno = code;
    return ok ? 0 : EOF;
}

FILE *gzip_stream_open(FILE *to) {
    const cookie_io_functions_t functions = {.write = write_gzip, .close = close_gzip};
    struct gzip *g = calloc(1, sizeof *g);
    if (g)
        g->to = to;
    if (g && deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) !=
                 Z_OK) {
        free(g);
        g = NULL;
    }
    FILE *stream = g ? fopencookie(g, "w", functions) : NULL;
    if (g && !stream) {
        deflateEnd(&g->z);
        free(g);
    }
    if (!stream)
        errno = ENOMEM;
    return stream;
}
