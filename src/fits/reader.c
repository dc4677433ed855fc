#include "fits/reader.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 16, /* pixels; 256 KiB stay in the processor's cache until they are scanned */
    SAMPLE_ROWS = 256,
    STORED_BYTES = 1 << 16, /* read at a time where values are converted */
};

/* --- float32 as it is --- */

static const uint32_t *read_float32(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    const struct reader *r = state;
    const enum srcfind_status status =
        fits_file_read(r->file, buffer, count * 4, r->data + first * 4, error);
    return status == SRCFIND_OK ? buffer : NULL;
}

/* --- all other kinds of pixels --- */

/* A big-endian natural number of a few bytes. */
static inline uint64_t load_big_endian(const unsigned char *bytes, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

static inline int64_t load_integer(const unsigned char *bytes, int bitpix) {
    switch (bitpix) {
    case 8:
        return bytes[0];
    case 16:
        return (int16_t)load_big_endian(bytes, 2);
    case 32:
        return (int32_t)load_big_endian(bytes, 4);
    default:
        return (int64_t)load_big_endian(bytes, 8);
    }
}

/* Integers of 64 bits would be rounded twice on the way through a double, so they take it only
 * where they are scaled. */
static inline float integer_value(int64_t stored, const struct scaling *s) {
    if (s->has_blank && stored == s->blank)
        return NAN;
    if (s->bscale == 1 && s->bzero == 0)
        return (float)stored;
    if (s->bscale == 1 && s->bzero == 0x1p63) /* unsigned 64-bit */
        return (float)((uint64_t)stored ^ (uint64_t)1 << 63);
    return (float)(s->bzero + s->bscale * (double)stored);
}

static inline double load_real(const unsigned char *bytes, int bitpix) {
    double value;
    if (bitpix == -32) {
        const uint32_t bits = (uint32_t)load_big_endian(bytes, 4);
        float narrow;
        memcpy(&narrow, &bits, sizeof narrow);
        return narrow;
    }
    const uint64_t bits = load_big_endian(bytes, 8);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float stored_value(const unsigned char *bytes, int bitpix, const struct scaling *s) {
    if (bitpix > 0)
        return integer_value(load_integer(bytes, bitpix), s);
    return (float)(s->bzero + s->bscale * load_real(bytes, bitpix));
}

static const uint32_t *read_stored(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct reader *r = state;
    const int size = abs(r->bitpix) / 8;
    unsigned char stored[STORED_BYTES];
    for (int64_t i = 0; i < count;) {
        const int64_t n = count - i < STORED_BYTES / size ? count - i : STORED_BYTES / size;
        if (fits_file_read(r->file, stored, n * size, r->data + (first + i) * size, error) !=
            SRCFIND_OK)
            return NULL;
        for (int64_t j = 0; j < n; j++) {
            const float value = stored_value(stored + j * size, r->bitpix, &r->scaling);
            memcpy(&buffer[i + j], &value, sizeof value);
        }
        i += n;
    }
    return buffer;
}

/* --- opening --- */

static struct scaling scaling_of(const struct hdu *hdu) {
    struct scaling s = {.bscale = 1};
    header_real(&hdu->header, "BSCALE", &s.bscale);
    header_real(&hdu->header, "BZERO", &s.bzero);
    s.has_blank = hdu->bitpix > 0 && header_integer(&hdu->header, "BLANK", &s.blank);
    return s;
}

enum srcfind_status reader_open(struct reader *reader, struct fits_file *file,
                                const struct hdu *hdu, int64_t plane, struct pixel_source *source,
                                struct error *error) {
    *reader = (struct reader){.file = file,
                              .bitpix = hdu->bitpix,
                              .scaling = scaling_of(hdu),
                              .data = hdu->data + abs(hdu->bitpix) / 8 * plane};
    *source = (struct pixel_source){.width = hdu->axes[0],
                                    .height = hdu->axes[1],
                                    .piece = PIECE,
                                    .sample_rows = SAMPLE_ROWS,
                                    .parallel = true,
                                    .state = reader,
                                    .read = read_stored};
    if (*file->packing || hdu->is_compressed)
        return compressed_open(&reader->compressed, file, hdu, &reader->scaling, plane, source,
                               error);
    if (hdu->bitpix == -32 && reader->scaling.bscale == 1 && reader->scaling.bzero == 0) {
        source->read = read_float32;
        source->swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    }
    return SRCFIND_OK;
}

void reader_prefetch(const struct reader *reader, int64_t n) {
    if (!reader->compressed)
        posix_fadvise(reader->file->descriptor, reader->data, abs(reader->bitpix) / 8 * n,
                      POSIX_FADV_WILLNEED);
}

void reader_close(struct reader *reader) {
    compressed_close(reader->compressed);
    *reader = (struct reader){0};
}
