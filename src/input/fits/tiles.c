/* How pixels of a compressed plane are read.
 *
 * 1. tiles_open checks the header: the method (tile_codec.c), the sizes of tiles, the columns of
 *    the table, the quantisation; tile_grid_make finds the table rows of the plane's tiles.
 * 2. read_tiles takes the tiles that overlap the wanted pixels. unpack_tile reads the table row of
 *    a tile, its array from the heap, and unpacks the array to integers or floats.
 * 3. convert_overlap turns the wanted pixels to float32: integers by BSCALE and BZERO, quantised
 *    floats by the ZSCALE and ZZERO of their tile, with the dither of FITS 4.0, section 10.2.
 * 4. If the caller wants it (tiles_keep), the pixels of whole rows of tiles are kept where there is
 *    room (unpacked.h), and later reads give them as they are.
 *
 * Always: no size of the file is trusted. A tile has at most 2^28 pixels, a table row at most 64
 * KiB, an array is within the file. Each reading thread has a workspace of its own from a list of
 * idle ones.
 *
 * Cost: each read unpacks its tiles. Chunks are whole rows of tiles, so that a scan unpacks each
 * tile once; a sample unpacks a sixteenth of them again. Tiles that are kept are unpacked once, but
 * for rows that two threads want at the same time, and a pixel takes 4 bytes. */
#include "input/fits/tiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "common/arrays.h"
#include "input/fits/dither.h"
#include "input/fits/table.h"
#include "input/fits/tile_codec.h"
#include "input/fits/unpacked.h"

enum {
    CHUNK = 1 << 16, /* pixels; they stay in the processor's cache until they are scanned */
    LEAST_SAMPLE_ROWS = 4,
    MOST_SAMPLE_ROWS = 64,
    MOST_TILE_PIXELS = 1 << 28,
    MOST_ROW_BYTES = 1 << 16, /* of the table */
};

/* The quantisation of floats. A value is (q - dither + 0.5) * scale + zero for an integer q. */
struct quantisation {
    bool is_used, dithered, keeps_zeros;
    int64_t seed; /* ZDITHER0 */
};

/* ZSCALE or ZZERO: from a column, else from a keyword of this name, else a default. */
struct setting {
    bool in_column, in_header;
    struct table_column column;
    double value;
};

/* The buffers of one read call. */
struct workspace {
    unsigned char *row; /* of the table */
    unsigned char *packed, *unpacked;
    int64_t packed_bytes, unpacked_bytes;
    float *values; /* of a row of tiles, if they are kept in a file */
    int64_t n_values;
    struct workspace *next;
};

/* The columns of the table that has the tiles. */
struct tile_columns {
    bool has_gzipped, has_plain, has_blank;
    struct table_column compressed, gzipped, plain, blank;
};

/* Where the tiles of the plane are. */
struct tile_grid {
    int64_t axes[2], tile[2], count[2]; /* along x and y: pixels, pixels per tile, tiles */
    int64_t depth;                      /* the number of planes in the plane's tiles */
    int64_t first_row;                  /* the table row of the plane's first tile */
    int64_t plane;                      /* the index of the plane within its tiles */
};

struct tiles {
    const struct fits_file *file;
    struct table table;
    struct tile_codec codec;
    struct tile_columns columns;
    struct setting scale, zero;
    struct quantisation quantisation;
    struct scaling scaling;
    struct tile_grid grid;
    struct unpacked unpacked;
    mtx_t lock;
    struct workspace *idle; /* the list of unused workspaces; protected by the lock */
};

/* One tile, unpacked. */
struct tile {
    int64_t x, y, width, height; /* first pixel and shape in the plane */
    struct tile_pixels pixels;
    struct scaling scaling;
    double scale, zero;
    struct dither dither;
    bool quantised;
};

/* --- workspaces: one for each thread that is reading --- */

static void free_workspace(struct workspace *w) {
    if (!w)
        return;
    free(w->row);
    free(w->packed);
    free(w->unpacked);
    free(w->values);
    free(w);
}

static struct workspace *make_workspace(const struct tiles *t) {
    struct workspace *w = calloc(1, sizeof *w);
    if (w && !(w->row = malloc((size_t)t->table.row_bytes))) {
        free_workspace(w);
        w = NULL;
    }
    return w;
}

static struct workspace *acquire_workspace(struct tiles *t) {
    mtx_lock(&t->lock);
    struct workspace *w = t->idle;
    if (w)
        t->idle = w->next;
    mtx_unlock(&t->lock);
    return w ? w : make_workspace(t);
}

static void release_workspace(struct tiles *t, struct workspace *w) {
    mtx_lock(&t->lock);
    w->next = t->idle;
    t->idle = w;
    mtx_unlock(&t->lock);
}

/* --- unpacking a tile --- */

static enum srcfind_status damaged(const struct tiles *t, const struct tile *tile,
                                   struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: rows %lld to %lld cannot be read: the tile at pixel %lld, %lld cannot be "
                     "unpacked: is the file damaged?",
                     t->file->path, (long long)tile->y + 1, (long long)(tile->y + tile->height),
                     (long long)tile->x + 1, (long long)tile->y + 1);
}

/* The value of a setting for a row of the table; NaN if its column has no finite number. */
static double setting_value(const struct setting *setting, const unsigned char *row) {
    double value = setting->value;
    return setting->in_column && !table_number(&setting->column, row, &value) ? NAN : value;
}

/* Reads an array of the heap into w->packed, and allocates w->unpacked. */
static enum srcfind_status read_array(const struct tiles *t, struct workspace *w, int64_t bytes,
                                      int64_t offset, int64_t n_pixels, struct error *error) {
    const int64_t padding = tile_codec_padding_bytes(&t->codec, n_pixels);
    if (!GROW(w->packed, w->packed_bytes, bytes + padding) ||
        !GROW(w->unpacked, w->unpacked_bytes, tile_codec_unpacked_bytes(&t->codec, n_pixels)))
        return error_memory(error, "unpacking an image");
    return fits_file_read(t->file, w->packed, bytes, offset, error);
}

/* Sets *pixels to the values of an array of the column UNCOMPRESSED_DATA. */
static bool take_plain(const struct tiles *t, const struct workspace *w, int64_t count,
                       int64_t n_pixels, struct tile_pixels *pixels) {
    const int bitpix = table_bitpix(t->columns.plain.element);
    if (bitpix == 0 || count != n_pixels)
        return false;
    *pixels = (struct tile_pixels){
        .stored = w->packed, .bitpix = bitpix, .pixel_step = abs(bitpix) / 8, .byte_step = 1};
    return true;
}

/* The array that has a tile's bytes. */
struct array {
    const struct table_column *column; /* NULL if there is no such array */
    int64_t count, bytes;              /* elements of the column's type; bytes */
    int64_t offset;                    /* in the file */
};

/* Finds the first column with an array that is not empty. */
static struct array find_array(const struct tiles *t, const unsigned char *row) {
    const struct table_column *columns[] = {&t->columns.compressed,
                                            t->columns.has_plain ? &t->columns.plain : NULL,
                                            t->columns.has_gzipped ? &t->columns.gzipped : NULL};
    struct array a = {0};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (!columns[i])
            continue;
        if (!table_array(&t->table, columns[i], row, &a.count, &a.offset))
            return a;
        if (a.count > 0) {
            a.column = columns[i];
            a.bytes = a.count * table_element_bytes(a.column->element);
            return a;
        }
    }
    return a;
}

/* Reads a tile's blank value and scale from a row of the table. Blank tiles have a scale of NaN,
 * which makes all their values NaN. */
static void read_scale(const struct tiles *t, const unsigned char *row, int64_t number,
                       struct tile *tile) {
    tile->scaling = t->scaling;
    if (t->columns.has_blank)
        tile->scaling.has_blank = table_integer(&t->columns.blank, row, &tile->scaling.blank);
    if (!tile->quantised)
        return;
    tile->scale = setting_value(&t->scale, row) * t->scaling.bscale;
    tile->zero = setting_value(&t->zero, row) * t->scaling.bscale + t->scaling.bzero;
    if (t->quantisation.dithered)
        tile->dither = dither_start(number + t->quantisation.seed);
}

/* Unpacks the array in w->packed. False if it is damaged. */
static bool unpack_array(const struct tiles *t, struct workspace *w, const struct array *a,
                         int64_t n_pixels, struct tile *tile) {
    if (a->column == &t->columns.plain)
        return take_plain(t, w, a->count, n_pixels, &tile->pixels);
    if (a->column == &t->columns.gzipped)
        return tile_codec_gunzip_reals(&t->codec, w->packed, a->bytes, n_pixels, w->unpacked,
                                       &tile->pixels);
    tile->quantised = t->quantisation.is_used;
    return tile_codec_unpack(&t->codec, t->codec.bitpix < 0 && !tile->quantised, w->packed,
                             a->bytes, tile->width, n_pixels, w->unpacked, &tile->pixels);
}

/* Reads and unpacks the tile of this number in the plane. */
static enum srcfind_status unpack_tile(struct tiles *t, struct workspace *w, int64_t number,
                                       struct tile *tile, struct error *error) {
    const int64_t n_pixels = tile->width * tile->height * t->grid.depth;
    const int64_t row = t->grid.first_row + number;
    enum srcfind_status status = fits_file_read(t->file, w->row, t->table.row_bytes,
                                                t->table.data + row * t->table.row_bytes, error);
    if (status != SRCFIND_OK)
        return status;
    const struct array array = find_array(t, w->row);
    if (!array.column || array.bytes > tile_codec_most_packed_bytes(n_pixels))
        return damaged(t, tile, error);
    status = read_array(t, w, array.bytes, array.offset, n_pixels, error);
    if (status != SRCFIND_OK)
        return status;
    if (!unpack_array(t, w, &array, n_pixels, tile))
        return damaged(t, tile, error);
    read_scale(t, w->row, row, tile);
    return SRCFIND_OK;
}

/* --- values --- */

static int64_t integer_at(const struct tile_pixels *p, int64_t i) {
    return p->integers ? p->integers[i]
                       : load_integer(p->stored + i * p->pixel_step, p->bitpix, p->byte_step);
}

static bool is_blank(const struct tile *tile, int64_t q) {
    return tile->scaling.has_blank && q == tile->scaling.blank;
}

static void convert_quantised(const struct tile *tile, int64_t first, int64_t count,
                              float *values) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t q = integer_at(&tile->pixels, first + i);
        values[i] = is_blank(tile, q) ? NAN : (float)((double)q * tile->scale + tile->zero);
    }
}

/* FITS standard 10.2. With SUBTRACTIVE_DITHER_2 one integer is reserved for the value 0. */
static void convert_dithered(const struct tiles *t, struct tile *tile, int64_t first, int64_t count,
                             float *values) {
    enum { ZERO = -2147483646 };
    for (int64_t done = 0, n; done < count; done += n) {
        n = count - done;
        const float *number = dither_numbers(&tile->dither, first + done, &n);
        for (int64_t i = 0; i < n; i++) {
            const int64_t q = integer_at(&tile->pixels, first + done + i);
            const double value = ((double)q - number[i] + 0.5) * tile->scale + tile->zero;
            const bool is_zero = t->quantisation.keeps_zeros && q == ZERO;
            values[done + i] = is_blank(tile, q) ? NAN : is_zero ? 0 : (float)value;
        }
    }
}

/* Converts count pixels of a tile, from the index `first` on. */
static void convert(const struct tiles *t, struct tile *tile, int64_t first, int64_t count,
                    float *values) {
    const struct tile_pixels *p = &tile->pixels;
    if (tile->quantised && t->quantisation.dithered)
        convert_dithered(t, tile, first, count, values);
    else if (tile->quantised)
        convert_quantised(tile, first, count, values);
    else if (p->integers)
        for (int64_t i = 0; i < count; i++)
            values[i] = integer_value(p->integers[first + i], &tile->scaling);
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = stored_value(p->stored + (first + i) * p->pixel_step, p->bitpix,
                                     p->byte_step, &tile->scaling);
}

/* --- reading --- */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static struct tile tile_at(const struct tile_grid *g, int64_t column, int64_t row) {
    struct tile tile = {.x = column * g->tile[0], .y = row * g->tile[1]};
    tile.width = least(g->tile[0], g->axes[0] - tile.x);
    tile.height = least(g->tile[1], g->axes[1] - tile.y);
    return tile;
}

/* Converts the pixels of the plane that are both in the tile and in [first, first + count).
 * values[0] is pixel `first` of the plane. */
static void convert_overlap(const struct tiles *t, struct tile *tile, int64_t first, int64_t count,
                            float *values) {
    const int64_t width = t->grid.axes[0], last = first + count;
    const int64_t before = t->grid.plane * tile->width * tile->height;
    const int64_t from_row = most(tile->y, first / width);
    const int64_t to_row = least(tile->y + tile->height, (last - 1) / width + 1);
    for (int64_t y = from_row; y < to_row; y++) {
        const int64_t from = most(y * width + tile->x, first);
        const int64_t to = least(y * width + tile->x + tile->width, last);
        const int64_t x = from - y * width - tile->x;
        if (from < to)
            convert(t, tile, before + (y - tile->y) * tile->width + x, to - from,
                    values + (from - first));
    }
}

/* The pixels [first, first + count) of a plane, and the rows of tiles [from, to] that they are in.
 */
struct wanted {
    int64_t first, count, from, to;
};

static struct wanted wanted_make(const struct tile_grid *g, int64_t first, int64_t count) {
    const int64_t row = g->axes[0] * g->tile[1];
    return (struct wanted){first, count, first / row, (first + count - 1) / row};
}

/* All pixels of a row of tiles. */
static struct wanted wanted_row(const struct tile_grid *g, int64_t row) {
    const int64_t first = row * g->tile[1] * g->axes[0],
                  end = least((row + 1) * g->tile[1], g->axes[1]) * g->axes[0];
    return (struct wanted){first, end - first, row, row};
}

/* Unpacks the wanted pixels; values[0] is the first of them. */
static enum srcfind_status unpack(struct tiles *t, struct workspace *w, const struct wanted *wanted,
                                  float *values, struct error *error) {
    const struct tile_grid *g = &t->grid;
    enum srcfind_status status = SRCFIND_OK;
    const int64_t end = (wanted->to + 1) * g->count[0];
    for (int64_t i = wanted->from * g->count[0]; status == SRCFIND_OK && i < end; i++) {
        struct tile tile = tile_at(g, i % g->count[0], i / g->count[0]);
        status = unpack_tile(t, w, i, &tile, error);
        if (status == SRCFIND_OK)
            convert_overlap(t, &tile, wanted->first, wanted->count, values);
    }
    return status;
}

/* Unpacks a row of tiles, and keeps its pixels if there is room for them. */
static enum srcfind_status keep_row(struct tiles *t, struct workspace *w, int64_t row,
                                    struct error *error) {
    const struct wanted all = wanted_row(&t->grid, row);
    float *values = t->unpacked.pixels ? t->unpacked.pixels + all.first : NULL;
    enum srcfind_status status = SRCFIND_OK;
    if (!values && GROW(w->values, w->n_values, all.count))
        values = w->values;
    if (values)
        status = unpack(t, w, &all, values, error);
    unpacked_end(&t->unpacked, row, status == SRCFIND_OK ? values : NULL, all.first, all.count);
    return status;
}

/* Keeps the wanted rows of tiles that no other thread is at. */
static enum srcfind_status keep_rows(struct tiles *t, struct workspace *w,
                                     const struct wanted *wanted, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t row = wanted->from; status == SRCFIND_OK && row <= wanted->to; row++)
        if (unpacked_begin(&t->unpacked, row))
            status = keep_row(t, w, row, error);
    return status;
}

static bool are_kept(const struct tiles *t, const struct wanted *wanted) {
    for (int64_t row = wanted->from; row <= wanted->to; row++)
        if (!unpacked_has(&t->unpacked, row))
            return false;
    return true;
}

/* Gives pixels that are kept. */
static const uint32_t *get_kept(const struct tiles *t, const struct wanted *wanted,
                                uint32_t *buffer, struct error *error) {
    const float *values =
        unpacked_get(&t->unpacked, wanted->first, wanted->count, (float *)(void *)buffer);
    if (!values)
        error_set(error, SRCFIND_ERROR_INPUT, "%s: reading its unpacked pixels from /tmp: %s",
                  t->file->path, strerror(errno));
    return (const uint32_t *)(const void *)values;
}

static const uint32_t *read_tiles(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                  struct error *error) {
    struct tiles *t = state;
    const struct wanted wanted = wanted_make(&t->grid, first, count);
    if (are_kept(t, &wanted))
        return get_kept(t, &wanted, buffer, error);
    struct workspace *w = acquire_workspace(t);
    enum srcfind_status status = w ? SRCFIND_OK : error_memory(error, "unpacking an image");
    if (status == SRCFIND_OK)
        status = keep_rows(t, w, &wanted, error);
    const bool is_kept = are_kept(t, &wanted);
    if (status == SRCFIND_OK && !is_kept)
        status = unpack(t, w, &wanted, (float *)(void *)buffer, error);
    if (w)
        release_workspace(t, w);
    return status != SRCFIND_OK ? NULL : is_kept ? get_kept(t, &wanted, buffer, error) : buffer;
}

/* --- opening --- */

/* The number of pixels of a tile along an axis, counted from 0; 0 if ZTILEn is invalid. */
static int64_t tile_size(const struct hdu *hdu, int axis) {
    int64_t size = axis == 0 ? hdu->axes[0] : 1;
    header_indexed(&hdu->header, "ZTILE", axis + 1, &size);
    return size < 1 ? 0 : least(size, hdu->axes[axis]);
}

/* Whether all axes of the tiles are valid, and a tile has at most MOST_TILE_PIXELS. */
static bool tiles_are_valid(const struct hdu *hdu) {
    int64_t most = MOST_TILE_PIXELS;
    for (int i = 0; i < hdu->n_axes; i++) {
        const int64_t size = tile_size(hdu, i);
        if (size == 0 || size > most)
            return false;
        most /= size;
    }
    return true;
}

/* Sets the sizes of tiles, and finds the tiles of the plane whose first pixel is `plane`. */
static void tile_grid_make(struct tile_grid *g, const struct hdu *hdu, int64_t plane) {
    for (int i = 0; i < 2; i++) {
        g->axes[i] = hdu->axes[i];
        g->tile[i] = tile_size(hdu, i);
        g->count[i] = (g->axes[i] - 1) / g->tile[i] + 1;
    }
    int64_t plane_index = plane / (g->axes[0] * g->axes[1]), rows = g->count[0] * g->count[1];
    g->depth = 1;
    for (int i = 2; i < hdu->n_axes; i++) {
        const int64_t length = hdu->axes[i], size = tile_size(hdu, i), index = plane_index % length;
        plane_index /= length;
        g->first_row += index / size * rows;
        rows *= (length - 1) / size + 1;
        g->plane += index % size * g->depth;
        g->depth *= least(size, length - index / size * size);
    }
}

static void find_setting(const struct tiles *t, const char *name, double default_value,
                         struct setting *setting) {
    setting->value = default_value;
    setting->in_column = table_find(&t->table, name, &setting->column);
    setting->in_header = header_real(t->table.header, name, &setting->value);
}

/* Finds the blank value: the column ZBLANK, else the keyword ZBLANK, else BLANK. For integer images
 * t->scaling has BLANK already. */
static void find_blank(struct tiles *t, const struct header *header) {
    int64_t blank;
    t->columns.has_blank = table_find(&t->table, "ZBLANK", &t->columns.blank);
    if (!t->columns.has_blank &&
        (header_integer(header, "ZBLANK", &blank) || header_integer(header, "BLANK", &blank))) {
        t->scaling.has_blank = true;
        t->scaling.blank = blank;
    }
}

/* Reads the quantisation of floats. Floats without a scale are not quantised, whatever ZQUANTIZ
 * says. */
static void find_quantisation(struct tiles *t, const struct header *header) {
    struct quantisation *q = &t->quantisation;
    char method[SRCFIND_TEXT] = "";
    q->seed = 1;
    header_text(header, "ZQUANTIZ", method, sizeof method);
    header_integer(header, "ZDITHER0", &q->seed);
    q->seed %= DITHER_NUMBERS; /* seeds wrap around at the end of the table */
    find_setting(t, "ZSCALE", 1, &t->scale);
    find_setting(t, "ZZERO", 0, &t->zero);
    q->is_used = t->codec.bitpix < 0 && strcmp(method, "NONE") != 0 &&
                 (t->scale.in_column || t->scale.in_header);
    q->keeps_zeros = strcmp(method, "SUBTRACTIVE_DITHER_2") == 0;
    q->dithered = q->keeps_zeros || strcmp(method, "SUBTRACTIVE_DITHER_1") == 0;
}

/* PLIO has no negative numbers: it stores unsigned 16-bit integers without the offset BZERO. */
static void correct_plio_offset(struct tiles *t) {
    if (t->codec.packing == TILE_PLIO && t->scaling.bzero == 32768)
        t->scaling.bzero = 0;
}

static enum srcfind_status invalid(const struct fits_file *file, const struct hdu *hdu,
                                   const char *what, struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT, "%s: HDU %d: %s: is the file damaged?", file->path,
                     hdu->number, what);
}

/* Fills t from the header of a compressed image. */
static enum srcfind_status tiles_describe(struct tiles *t, struct fits_file *file,
                                          const struct hdu *hdu, int64_t plane,
                                          struct error *error) {
    const enum srcfind_status status = tile_codec_read(&t->codec, file, hdu, error);
    if (status != SRCFIND_OK)
        return status;
    if (!table_open(&t->table, file, hdu) || t->table.row_bytes < 1 ||
        t->table.row_bytes > MOST_ROW_BYTES)
        return invalid(file, hdu, "no table that tiles could be in", error);
    if (!tiles_are_valid(hdu))
        return invalid(file, hdu, "tiles of more than 2^28 pixels, or none", error);
    tile_grid_make(&t->grid, hdu, plane);
    const bool has_tiles = table_find(&t->table, "COMPRESSED_DATA", &t->columns.compressed);
    t->columns.has_gzipped = table_find(&t->table, "GZIP_COMPRESSED_DATA", &t->columns.gzipped);
    t->columns.has_plain = table_find(&t->table, "UNCOMPRESSED_DATA", &t->columns.plain);
    if (!has_tiles)
        return invalid(file, hdu, "no column COMPRESSED_DATA", error);
    find_quantisation(t, &hdu->header);
    if (t->codec.bitpix < 0 && !t->quantisation.is_used && !tile_codec_takes_reals(&t->codec))
        return invalid(file, hdu, "floats in integers (RICE_1 and the like) without a ZSCALE",
                       error);
    find_blank(t, &hdu->header);
    correct_plio_offset(t);
    return SRCFIND_OK;
}

/* A chunk is a whole number of rows of tiles, so that the scan unpacks each tile once. The sample's
 * tiles are unpacked once more; sample_rows limits them to a sixteenth of the rows of tiles, except
 * in small images. */
static void choose_chunks(const struct tiles *t, struct pixel_source *source) {
    const int64_t rows = t->grid.tile[1], tile = rows * source->width;
    const int64_t chunk = (tile < CHUNK ? CHUNK / tile : 1) * tile;
    const int64_t n = source->width * source->height, bands = source->height / (16 * rows);
    source->chunk_pixels = least(chunk, n);
    source->sample_rows = bands > MOST_SAMPLE_ROWS    ? MOST_SAMPLE_ROWS
                          : bands < LEAST_SAMPLE_ROWS ? LEAST_SAMPLE_ROWS
                                                      : (int)bands;
}

enum srcfind_status tiles_open(struct tiles **tiles, struct fits_file *file, const struct hdu *hdu,
                               const struct scaling *scaling, int64_t plane,
                               struct pixel_source *source, struct error *error) {
    struct tiles *t = calloc(1, sizeof *t);
    if (!t || mtx_init(&t->lock, mtx_plain) != thrd_success) {
        free(t);
        return error_memory(error, "opening an image");
    }
    *tiles = t;
    t->file = file;
    t->scaling = *scaling;
    const enum srcfind_status status = tiles_describe(t, file, hdu, plane, error);
    if (status != SRCFIND_OK)
        return status;
    choose_chunks(t, source);
    source->packed = true;
    source->parallel = !t->codec.cfitsio || t->codec.cfitsio->reentrant;
    source->state = t;
    source->read = read_tiles;
    return SRCFIND_OK;
}

void tiles_keep(struct tiles *t) {
    unpacked_open(&t->unpacked, t->grid.axes[0] * t->grid.axes[1], t->grid.count[1]);
}

void tiles_close(struct tiles *t) {
    if (!t)
        return;
    while (t->idle) {
        struct workspace *next = t->idle->next;
        free_workspace(t->idle);
        t->idle = next;
    }
    unpacked_close(&t->unpacked);
    mtx_destroy(&t->lock);
    free(t);
}
