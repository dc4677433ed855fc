#include "fits/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 20, /* pixels; many, so that whole tiles are decompressed once */
    SAMPLE_ROWS = 64,
};

/* Quantised float tiles keep their nulls as integers (ZBLANK); such tables have a ZSCALE column, or
 * the keyword. */
static bool is_quantised(const struct hdu *hdu) {
    char name[SRCFIND_TEXT], keyword[32];
    int64_t fields = 0;
    double scale;
    if (!hdu->is_compressed || hdu->bitpix > 0)
        return false;
    header_integer(&hdu->header, "TFIELDS", &fields);
    for (int64_t i = 1; i <= fields && i <= 999; i++) {
        snprintf(keyword, sizeof keyword, "TTYPE%lld", (long long)i);
        if (header_text(&hdu->header, keyword, name, sizeof name) && strcmp(name, "ZSCALE") == 0)
            return true;
    }
    return header_real(&hdu->header, "ZSCALE", &scale);
}

/* Float32 values are taken as they are. Without need, CFITSIO is not asked to look for nulls in
 * floats, since it would make subnormal ones 0. Wider ones come as double, to be rounded once here;
 * so do integers, but those of 64 bits, which double would round first. */
static void choose_type(struct reader *r, const struct hdu *hdu) {
    const bool scaled = r->scaling.bscale != 1 || r->scaling.bzero != 0;
    r->check_nulls = hdu->bitpix > 0 || is_quantised(hdu);
    r->type = TDOUBLE;
    if (hdu->bitpix == -32 && !scaled)
        r->type = TFLOAT;
    if (hdu->bitpix == 64 && !scaled)
        r->type = TLONGLONG;
    if (hdu->bitpix == 64 && r->scaling.bscale == 1 && r->scaling.bzero == 0x1p63)
        r->type = TULONGLONG;
}

static void narrow(const struct reader *r, int64_t count, float *pixels) {
    const double *real = r->wide;
    const long long *integer = (const long long *)(const void *)r->wide;
    const unsigned long long *natural = (const unsigned long long *)(const void *)r->wide;
    for (int64_t i = 0; i < count; i++) {
        if (r->type == TDOUBLE)
            pixels[i] = (float)real[i];
        else if (r->nulls[i])
            pixels[i] = NAN;
        else
            pixels[i] = r->type == TLONGLONG ? (float)integer[i] : (float)natural[i];
    }
}

static const uint32_t *read_cfitsio(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    struct reader *r = state;
    const struct cfitsio *c = r->file->cfitsio;
    const LONGLONG at = r->plane + first + 1;
    float float_nan = NAN;
    double double_nan = NAN;
    int code = 0, any;
    c->ffcmsg();
    if (r->type == TFLOAT)
        c->ffgpv(r->handle, TFLOAT, at, count, r->check_nulls ? &float_nan : NULL, buffer, &any,
                 &code);
    else if (r->type == TDOUBLE)
        c->ffgpv(r->handle, TDOUBLE, at, count, r->check_nulls ? &double_nan : NULL, r->wide, &any,
                 &code);
    else
        c->ffgpf(r->handle, r->type, at, count, r->wide, r->nulls, &any, &code);
    if (code) {
        cfitsio_error(c, r->file->path, code, error);
        return NULL;
    }
    if (r->type != TFLOAT)
        narrow(r, count, (float *)(void *)buffer);
    return buffer;
}

/* Rows of an image that are decompressed together. */
static int64_t tile_rows(const struct hdu *hdu) {
    int64_t rows = 1;
    if (hdu->is_compressed)
        header_indexed(&hdu->header, "ZTILE", 2, &rows);
    return rows < 1 ? 1 : rows < hdu->axes[1] ? rows : hdu->axes[1];
}

enum srcfind_status reader_open_compressed(struct reader *r, struct fits_file *file,
                                           const struct hdu *hdu, struct pixel_source *source,
                                           struct error *error) {
    enum srcfind_status status = fits_file_need_cfitsio(file, error);
    if (status != SRCFIND_OK)
        return status;
    const int64_t tile = tile_rows(hdu) * source->width, n = source->width * source->height;
    const int64_t piece = (tile < PIECE ? PIECE / tile : 1) * tile;
    const int64_t bands = source->height / (16 * tile_rows(hdu));
    source->piece = piece < n ? piece : n;
    source->sample_rows = tile_rows(hdu) == 1 || bands > SAMPLE_ROWS ? SAMPLE_ROWS
                          : bands < 4                                ? 4
                                                                     : (int)bands;
    source->parallel = false;
    source->read = read_cfitsio;
    choose_type(r, hdu);
    r->handle = cfitsio_open(file->cfitsio, file->path, hdu->number, error);
    if (!r->handle)
        return SRCFIND_ERROR_INPUT;
    if (r->type != TFLOAT) {
        r->wide = malloc((size_t)source->piece * sizeof *r->wide);
        r->nulls = calloc((size_t)source->piece, 1);
        if (!r->wide || !r->nulls)
            return error_memory(error, "opening an image");
    }
    return SRCFIND_OK;
}
