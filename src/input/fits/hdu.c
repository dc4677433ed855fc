#include "input/fits/hdu.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"

enum { BLOCK = FITS_BLOCK, MOST_HEADER_BLOCKS = 1 << 12 };

void hdu_clear(struct hdu *hdu) {
    header_clear(&hdu->header);
    *hdu = (struct hdu){0};
}

/* --- the size and kind of the data --- */

/* *total *= n; false if n is negative or the product is above 2^62. */
static bool multiply(int64_t *total, int64_t n) {
    int64_t product;
    if (n < 0 || __builtin_mul_overflow(*total, n, &product) || product > INT64_MAX / 2)
        return false;
    *total = product;
    return true;
}

/* Sets *pixels to the product of the axes; 0 without axes. The first axis of random groups is 0 and
 * does not count. Returns the number of the first invalid axis; 0 if all are valid. */
static int multiply_axes(const struct header *header, int n_axes, int64_t *pixels) {
    bool groups = false;
    header_logical(header, "GROUPS", &groups);
    *pixels = n_axes > 0 ? 1 : 0;
    for (int i = 1; i <= n_axes; i++) {
        int64_t axis;
        if (!header_indexed(header, "NAXIS", i, &axis))
            return i;
        if (!(i == 1 && axis == 0 && groups) && !multiply(pixels, axis))
            return i;
    }
    return 0;
}

enum { KEYWORD_TEXT = 24 };

/* Sets *bytes to the size of the data unit, without padding, by the FITS standard 4.4.1. False if a
 * keyword is missing or invalid, or the size overflows: then bad_keyword, of KEYWORD_TEXT
 * characters, names the keyword. */
static bool data_bytes(const struct header *header, int64_t *bytes, char *bad_keyword) {
    enum { MOST_AXES = 999 };
    int64_t bitpix, n_axes, pcount = 0, gcount = 1;
    snprintf(bad_keyword, KEYWORD_TEXT, "BITPIX");
    if (!header_integer(header, "BITPIX", &bitpix) || bitpix < -64 || bitpix > 64 ||
        bitpix % 8 != 0)
        return false;
    snprintf(bad_keyword, KEYWORD_TEXT, "NAXIS");
    if (!header_integer(header, "NAXIS", &n_axes) || n_axes < 0 || n_axes > MOST_AXES)
        return false;
    const int axis = multiply_axes(header, (int)n_axes, bytes);
    snprintf(bad_keyword, KEYWORD_TEXT, "NAXIS%d", axis);
    if (axis > 0)
        return false;
    header_integer(header, "PCOUNT", &pcount);
    header_integer(header, "GCOUNT", &gcount);
    snprintf(bad_keyword, KEYWORD_TEXT, "PCOUNT or GCOUNT");
    return pcount >= 0 && !__builtin_add_overflow(*bytes, pcount, bytes) &&
           multiply(bytes, gcount) && multiply(bytes, llabs(bitpix) / 8);
}

static bool is_bitpix(int64_t bitpix) {
    return bitpix == 8 || bitpix == 16 || bitpix == 32 || bitpix == 64 || bitpix == -32 ||
           bitpix == -64;
}

/* Reads BITPIX and the axes of an image; with prefix "Z", those of a tile-compressed image. */
static bool read_axes(struct hdu *hdu, const char *prefix) {
    const struct header *header = &hdu->header;
    char keyword[16];
    int64_t bitpix, n_axes, bytes = 8;
    snprintf(keyword, sizeof keyword, "%sBITPIX", prefix);
    if (!header_integer(header, keyword, &bitpix) || !is_bitpix(bitpix))
        return false;
    snprintf(keyword, sizeof keyword, "%sNAXIS", prefix);
    if (!header_integer(header, keyword, &n_axes) || n_axes < 1 || n_axes > SRCFIND_MAX_AXES)
        return false;
    for (int i = 0; i < n_axes; i++)
        if (!header_indexed(header, keyword, i + 1, &hdu->axes[i]) || hdu->axes[i] < 1 ||
            !multiply(&bytes, hdu->axes[i]))
            return false;
    hdu->bitpix = (int)bitpix;
    hdu->n_axes = (int)n_axes;
    return true;
}

/* Whether the table of a compressed image has one row for each tile. */
static bool tiles_fit(const struct hdu *hdu) {
    int64_t rows, tiles = 1;
    if (!header_integer(&hdu->header, "NAXIS2", &rows))
        return false;
    for (int i = 0; i < hdu->n_axes; i++) {
        int64_t tile = i == 0 ? hdu->axes[0] : 1;
        header_indexed(&hdu->header, "ZTILE", i + 1, &tile);
        if (tile < 1 || !multiply(&tiles, (hdu->axes[i] - 1) / tile + 1))
            return false;
    }
    return tiles == rows;
}

static void hdu_describe(struct hdu *hdu) {
    char extension[SRCFIND_TEXT] = "IMAGE";
    bool groups = false, compressed = false;
    header_text(&hdu->header, "XTENSION", extension, sizeof extension);
    header_logical(&hdu->header, "GROUPS", &groups);
    header_logical(&hdu->header, "ZIMAGE", &compressed);
    hdu->is_compressed = compressed && strcmp(extension, "BINTABLE") == 0;
    if (hdu->is_compressed)
        hdu->is_image = read_axes(hdu, "Z") && tiles_fit(hdu);
    else
        hdu->is_image = strcmp(extension, "IMAGE") == 0 && !groups && read_axes(hdu, "");
}

/* --- from one HDU to the next --- */

static enum srcfind_status bad_header(const struct fits_file *file, const struct hdu *hdu,
                                      const char *what, struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: the header of HDU %d %s: is the file damaged?", file->path, hdu->number,
                     what);
}

/* Reads header blocks from an offset on, to the block with END. */
static enum srcfind_status read_cards(struct fits_file *file, struct hdu *hdu, int64_t offset,
                                      struct error *error) {
    struct header *header = &hdu->header;
    int64_t capacity = 0;
    for (int64_t block = 0; block < MOST_HEADER_BLOCKS; block++) {
        const int64_t at = block * BLOCK;
        bool reached;
        enum srcfind_status status = fits_file_reach(file, offset + at + BLOCK, &reached, error);
        if (status != SRCFIND_OK)
            return status;
        if (!reached)
            break;
        if (!GROW(header->cards, capacity, at + BLOCK + 1))
            return error_memory(error, "reading a header");
        status = fits_file_read(file, header->cards + at, BLOCK, offset + at, error);
        if (status != SRCFIND_OK)
            return status;
        bool ended;
        header->n_cards = at / CARD + header_count_cards(header->cards + at, BLOCK / CARD, &ended);
        header->cards[header->n_cards * CARD] = '\0';
        if (ended) {
            hdu->data = offset + at + BLOCK;
            return SRCFIND_OK;
        }
    }
    return bad_header(file, hdu, "has no END", error);
}

/* Sets *begins to whether an HDU begins at an offset; other bytes may follow the last HDU. */
static enum srcfind_status begins_hdu(struct fits_file *file, int64_t offset, bool *begins,
                                      struct error *error) {
    char start[8];
    enum srcfind_status status = fits_file_reach(file, offset + BLOCK, begins, error);
    if (status != SRCFIND_OK || !*begins)
        return status;
    status = fits_file_read(file, start, sizeof start, offset, error);
    *begins = memcmp(start, offset == 0 ? "SIMPLE  " : "XTENSION", sizeof start) == 0;
    return status;
}

/* The size in bytes of an uncompressed image. */
static int64_t pixel_bytes(const struct hdu *hdu) {
    int64_t bytes = llabs(hdu->bitpix) / 8;
    for (int i = 0; i < hdu->n_axes; i++)
        bytes *= hdu->axes[i];
    return bytes;
}

/* Returns an error if the file ends before the data of an image, or if the data unit, of `bytes`,
 * is smaller than the image. */
static enum srcfind_status check_size(struct fits_file *file, const struct hdu *hdu, int64_t bytes,
                                      struct error *error) {
    bool reached;
    if (!hdu->is_compressed && pixel_bytes(hdu) > bytes)
        return bad_header(file, hdu, "has more pixels than data", error);
    const enum srcfind_status status = fits_file_reach(file, hdu->data + bytes, &reached, error);
    if (status != SRCFIND_OK || reached)
        return status;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: truncated: HDU %d needs %lld bytes, and the file has %lld", file->path,
                     hdu->number, (long long)(hdu->data + bytes), (long long)fits_file_size(file));
}

enum srcfind_status hdu_next(struct fits_file *file, struct hdu *hdu, bool *found,
                             struct error *error) {
    const int number = hdu->header.cards ? hdu->number + 1 : 0;
    const int64_t offset = hdu->next;
    char bad_keyword[KEYWORD_TEXT];
    int64_t bytes;
    hdu_clear(hdu);
    hdu->number = number;
    enum srcfind_status status = begins_hdu(file, offset, found, error);
    if (status != SRCFIND_OK)
        return status;
    if (!*found)
        return number > 0
                   ? SRCFIND_OK
                   : error_set(
                         error, SRCFIND_ERROR_INPUT,
                         file->gunzip
                             ? "%s: the unpacked file is no FITS file, or ends within its header"
                             : "%s: the file ends within its first header",
                         file->path);
    status = read_cards(file, hdu, offset, error);
    if (status != SRCFIND_OK)
        return status;
    if (!data_bytes(&hdu->header, &bytes, bad_keyword))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: the header of HDU %d does not say how much data follow: %s is "
                         "missing or impossible: is the file damaged?",
                         file->path, number, bad_keyword);
    hdu->next = hdu->data + (bytes + BLOCK - 1) / BLOCK * BLOCK;
    hdu_describe(hdu);
    return hdu->is_image ? check_size(file, hdu, bytes, error) : SRCFIND_OK;
}
