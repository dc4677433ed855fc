#include "fits/compressed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

enum {
    PIECE = 1 << 16, /* pixels; these stay in the processor's cache until they are scanned */
    LEAST_SAMPLE_ROWS = 4,
    MOST_SAMPLE_ROWS = 64,
};

/* What one thread at a time reads with. */
struct decoder {
    fitsfile *handle;
    double *wide; /* a block of pixels of 8 bytes, for types other than TFLOAT */
    char *nulls;  /* which of them are null, for integers of 8 bytes */
    struct decoder *next;
};

struct compressed {
    const struct fits_file *file;
    int hdu, n_axes;
    long axes[SRCFIND_MAX_AXES];
    long corner[SRCFIND_MAX_AXES]; /* the plane's first pixel, counted from 1 */
    int64_t block;                 /* pixels: whole rows of the plane, and whole rows of tiles */
    int type;         /* how CFITSIO gives them: TFLOAT, TDOUBLE, TLONGLONG or TULONGLONG */
    bool check_nulls; /* whether it looks for BLANK and the nulls of quantised tiles */
    mtx_t lock;
    struct decoder *idle; /* under lock */
};

/* --- in which type --- */

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
static void choose_type(struct compressed *c, const struct hdu *hdu, const struct scaling *s) {
    const bool scaled = s->bscale != 1 || s->bzero != 0;
    c->check_nulls = hdu->bitpix > 0 || is_quantised(hdu);
    c->type = TDOUBLE;
    if (hdu->bitpix == -32 && !scaled)
        c->type = TFLOAT;
    if (hdu->bitpix == 64 && !scaled)
        c->type = TLONGLONG;
    if (hdu->bitpix == 64 && s->bscale == 1 && s->bzero == 0x1p63)
        c->type = TULONGLONG;
}

static void narrow(int type, const struct decoder *d, int64_t count, float *pixels) {
    const double *real = d->wide;
    const long long *integer = (const long long *)(const void *)d->wide;
    const unsigned long long *natural = (const unsigned long long *)(const void *)d->wide;
    for (int64_t i = 0; i < count; i++) {
        if (type == TDOUBLE)
            pixels[i] = (float)real[i];
        else if (d->nulls[i])
            pixels[i] = NAN;
        else
            pixels[i] = type == TLONGLONG ? (float)integer[i] : (float)natural[i];
    }
}

/* --- decoders: one for each thread that reads --- */

static void close_decoder(const struct compressed *c, struct decoder *d) {
    cfitsio_close(c->file->cfitsio, d->handle);
    free(d->wide);
    free(d->nulls);
    free(d);
}

/* Each opens the file anew, so that nothing is shared with other handles. */
static struct decoder *open_decoder(const struct compressed *c, struct error *error) {
    struct decoder *d = calloc(1, sizeof *d);
    bool memory = d;
    if (d && c->type != TFLOAT) {
        d->wide = malloc((size_t)c->block * sizeof *d->wide);
        d->nulls = calloc((size_t)c->block, 1);
        memory = d->wide && d->nulls;
    }
    if (!memory)
        error_memory(error, "opening an image");
    else
        d->handle = cfitsio_open(c->file->cfitsio, c->file->path, c->hdu, error);
    if (memory && d->handle)
        return d;
    if (d)
        close_decoder(c, d);
    return NULL;
}

/* One that is idle, or a new one: there are never more than threads that read. */
static struct decoder *take_decoder(struct compressed *c, struct error *error) {
    mtx_lock(&c->lock);
    struct decoder *d = c->idle;
    if (d)
        c->idle = d->next;
    else
        d = open_decoder(c, error);
    mtx_unlock(&c->lock);
    return d;
}

static void give_back(struct compressed *c, struct decoder *d) {
    mtx_lock(&c->lock);
    d->next = c->idle;
    c->idle = d;
    mtx_unlock(&c->lock);
}

/* --- reading --- */

/* How many of `count` pixels from `first` on are read at once: part of a row, or whole rows of one
 * block. */
static int64_t box_pixels(const struct compressed *c, int64_t first, int64_t count) {
    const int64_t width = c->axes[0];
    const int64_t in_row = width - first % width, in_block = c->block - first % c->block;
    if (in_row < width || count < width)
        return count < in_row ? count : in_row;
    return count < in_block ? count / width * width : in_block;
}

/* Only by its status: the stack of CFITSIO's messages may have those of other threads. */
static bool read_error(const struct compressed *c, int code, long first_row, long last_row,
                       struct error *error) {
    char text[FLEN_STATUS] = "";
    c->file->cfitsio->ffgerr(code, text);
    error_set(error, SRCFIND_ERROR_INPUT,
              "%s: rows %ld to %ld cannot be read: %s (CFITSIO %d): is the file damaged?",
              c->file->path, first_row, last_row, text, code);
    return false;
}

/* CFITSIO's functions for a series of pixels refuse compressed images of more than three axes;
 * those for a box do not. */
static bool read_box(struct compressed *c, struct decoder *d, int64_t first, int64_t count,
                     uint32_t *pixels, struct error *error) {
    const struct cfitsio *f = c->file->cfitsio;
    float float_nan = NAN;
    double double_nan = NAN;
    int code = 0, any;
    long from[SRCFIND_MAX_AXES], to[SRCFIND_MAX_AXES], step[SRCFIND_MAX_AXES];
    for (int i = 0; i < SRCFIND_MAX_AXES; i++) {
        from[i] = to[i] = c->corner[i];
        step[i] = 1;
    }
    from[0] += first % c->axes[0];
    from[1] += first / c->axes[0];
    to[0] = from[0] + (count < c->axes[0] ? count : c->axes[0]) - 1;
    to[1] = from[1] + (count - 1) / c->axes[0];
    if (c->type == TFLOAT)
        f->ffgsv(d->handle, TFLOAT, from, to, step, c->check_nulls ? &float_nan : NULL, pixels,
                 &any, &code);
    else if (c->type == TDOUBLE)
        f->ffgsv(d->handle, TDOUBLE, from, to, step, c->check_nulls ? &double_nan : NULL, d->wide,
                 &any, &code);
    else if (c->type == TLONGLONG)
        f->ffgsfjj(d->handle, 1, c->n_axes, c->axes, from, to, step, (LONGLONG *)(void *)d->wide,
                   d->nulls, &any, &code);
    else
        f->ffgsfujj(d->handle, 1, c->n_axes, c->axes, from, to, step, (ULONGLONG *)(void *)d->wide,
                    d->nulls, &any, &code);
    if (code)
        return read_error(c, code, from[1], to[1], error);
    if (c->type != TFLOAT)
        narrow(c->type, d, count, (float *)(void *)pixels);
    return true;
}

static const uint32_t *read_cfitsio(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    struct compressed *c = state;
    struct decoder *d = take_decoder(c, error);
    bool ok = d;
    for (int64_t i = 0; ok && i < count;) {
        const int64_t n = box_pixels(c, first + i, count - i);
        ok = read_box(c, d, first + i, n, buffer + i, error);
        i += n;
    }
    if (d)
        give_back(c, d);
    return ok ? buffer : NULL;
}

/* --- opening --- */

/* Rows of an image that are decompressed together. */
static int64_t tile_rows(const struct hdu *hdu) {
    int64_t rows = 1;
    if (hdu->is_compressed)
        header_indexed(&hdu->header, "ZTILE", 2, &rows);
    return rows < 1 ? 1 : rows < hdu->axes[1] ? rows : hdu->axes[1];
}

/* Where a plane begins, from the number of its first pixel. */
static void find_corner(struct compressed *c, const struct hdu *hdu, int64_t plane) {
    for (int i = 0; i < SRCFIND_MAX_AXES; i++) {
        c->axes[i] = i < hdu->n_axes ? hdu->axes[i] : 1;
        c->corner[i] = 1 + plane % c->axes[i];
        plane /= c->axes[i];
    }
}

/* Pieces are whole rows of tiles, so that none is unpacked twice. What is unpacked for a sample is
 * so for it alone: mostly no more than a sixteenth. */
static void choose_pieces(struct compressed *c, const struct hdu *hdu,
                          struct pixel_source *source) {
    const int64_t rows = tile_rows(hdu), tile = rows * source->width;
    const int64_t piece = (tile < PIECE ? PIECE / tile : 1) * tile;
    const int64_t n = source->width * source->height, bands = source->height / (16 * rows);
    c->block = piece < n ? piece : n;
    source->piece = c->block;
    source->sample_rows = bands > MOST_SAMPLE_ROWS    ? MOST_SAMPLE_ROWS
                          : bands < LEAST_SAMPLE_ROWS ? LEAST_SAMPLE_ROWS
                                                      : (int)bands;
}

/* What is compressed as a whole is unpacked to memory by each handle: one has to do. */
enum srcfind_status compressed_open(struct compressed **compressed, struct fits_file *file,
                                    const struct hdu *hdu, const struct scaling *scaling,
                                    int64_t plane, struct pixel_source *source,
                                    struct error *error) {
    const enum srcfind_status status = fits_file_need_cfitsio(file, error);
    if (status != SRCFIND_OK)
        return status;
    struct compressed *c = calloc(1, sizeof *c);
    if (!c || mtx_init(&c->lock, mtx_plain) != thrd_success) {
        free(c);
        return error_memory(error, "opening an image");
    }
    *compressed = c;
    c->file = file;
    c->hdu = hdu->number;
    c->n_axes = hdu->n_axes;
    find_corner(c, hdu, plane);
    choose_type(c, hdu, scaling);
    choose_pieces(c, hdu, source);
    source->packed = true;
    source->parallel = !*file->packing && file->cfitsio->reentrant;
    source->state = c;
    source->read = read_cfitsio;
    struct decoder *first = take_decoder(c, error);
    if (!first)
        return SRCFIND_ERROR_INPUT;
    give_back(c, first);
    return SRCFIND_OK;
}

void compressed_close(struct compressed *c) {
    if (!c)
        return;
    while (c->idle) {
        struct decoder *next = c->idle->next;
        close_decoder(c, c->idle);
        c->idle = next;
    }
    mtx_destroy(&c->lock);
    free(c);
}
