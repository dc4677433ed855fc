#include "input/fits/reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 16, /* pixels; 256 KiB stay in the processor's cache until they are scanned */
    SAMPLE_ROWS = 256,
    STORED_BYTES = 1 << 16, /* read at a time if values must be converted */
};

/* --- float32 without conversion --- */

static const uint32_t *read_float32(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    const struct reader *r = state;
    const enum srcfind_status status =
        fits_file_read(r->file, buffer, count * 4, r->data + first * 4, error);
    return status == SRCFIND_OK ? buffer : NULL;
}

/* --- all other types of pixels --- */

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
            const float value = stored_value(stored + j * size, r->bitpix, 1, &r->scaling);
            memcpy(&buffer[i + j], &value, sizeof value);
        }
        i += n;
    }
    return buffer;
}

/* --- opening --- */

/* Where a factor is there, but is not a number, all pixels would be wrong. */
static enum srcfind_status read_scaling(const struct fits_file *file, const struct hdu *hdu,
                                        struct scaling *s, struct error *error) {
    *s = (struct scaling){.bscale = 1};
    s->has_blank = hdu->bitpix > 0 && header_integer(&hdu->header, "BLANK", &s->blank);
    if (!header_optional_real(&hdu->header, "BZERO", &s->bzero))
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: HDU %d: BZERO is not a number",
                         file->path, hdu->number);
    if (!header_optional_real(&hdu->header, "BSCALE", &s->bscale) || s->bscale == 0)
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: HDU %d: BSCALE is 0, or not a number",
                         file->path, hdu->number);
    return SRCFIND_OK;
}

enum srcfind_status reader_open(struct reader *reader, struct fits_file *file,
                                const struct hdu *hdu, int64_t plane, struct pixel_source *source,
                                struct error *error) {
    *reader = (struct reader){.file = file,
                              .bitpix = hdu->bitpix,
                              .n_pixels = hdu->axes[0] * hdu->axes[1],
                              .data = hdu->data + abs(hdu->bitpix) / 8 * plane};
    *source = (struct pixel_source){.width = hdu->axes[0],
                                    .height = hdu->axes[1],
                                    .chunk_pixels = CHUNK,
                                    .sample_rows = SAMPLE_ROWS,
                                    .parallel = true,
                                    .state = reader,
                                    .read = read_stored};
    const enum srcfind_status status = read_scaling(file, hdu, &reader->scaling, error);
    if (status != SRCFIND_OK)
        return status;
    if (hdu->is_compressed)
        return tiles_open(&reader->tiles, file, hdu, &reader->scaling, plane, source, error);
    if (hdu->bitpix == -32 && reader->scaling.bscale == 1 && reader->scaling.bzero == 0) {
        source->read = read_float32;
        source->swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    }
    return SRCFIND_OK;
}

void reader_prefetch(const struct reader *reader) {
    if (!reader->tiles && !reader->file->gunzip)
        posix_fadvise(reader->file->descriptor, reader->data,
                      abs(reader->bitpix) / 8 * reader->n_pixels, POSIX_FADV_WILLNEED);
}

void reader_keep(const struct reader *reader) {
    if (reader->tiles)
        tiles_keep(reader->tiles);
}

void reader_close(struct reader *reader) {
    tiles_close(reader->tiles);
    *reader = (struct reader){0};
}
