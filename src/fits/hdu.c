#include "fits/hdu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 2880, MOST_HEADER_BLOCKS = 1 << 14 };

enum srcfind_status fits_file_read(const struct fits_file *file, void *buffer, int64_t count,
                                   int64_t offset, struct error *error) {
    for (int64_t done = 0; done < count;) {
        const ssize_t n =
            pread(file->descriptor, (char *)buffer + done, (size_t)(count - done), offset + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(error, SRCFIND_ERROR_INPUT, "%s: %s while reading", file->path,
                             strerror(errno));
        if (n == 0)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: the file ends after %lld bytes, before its data do: is it still "
                             "being written?",
                             file->path, (long long)(offset + done));
        done += n;
    }
    return SRCFIND_OK;
}

/* Tells plain FITS from what CFITSIO unpacks, by the first bytes. */
static enum srcfind_status look_at_start(struct fits_file *file, struct error *error) {
    static const struct {
        const char *start, *packing;
    } kinds[] = {{"SIMPLE  =", ""}, {"\x1f\x8b", "gzip"},  {"\x1f\x9d", "compress"},
                 {"BZh", "bzip2"},  {"PK\x03\x04", "zip"}, {"\x1f\x1e", "pack"}};
    char start[9] = "";
    const int64_t count = file->size < 9 ? file->size : 9;
    const enum srcfind_status status = fits_file_read(file, start, count, 0, error);
    if (status != SRCFIND_OK)
        return status;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].start);
        if (length <= (size_t)count && memcmp(start, kinds[i].start, length) == 0) {
            file->packing = kinds[i].packing;
            return SRCFIND_OK;
        }
    }
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: not a FITS file: it does not begin with SIMPLE", file->path);
}

enum srcfind_status fits_file_need_cfitsio(struct fits_file *file, struct error *error) {
    if (!file->cfitsio)
        file->cfitsio = cfitsio_load(error);
    return file->cfitsio ? SRCFIND_OK : SRCFIND_ERROR_INPUT;
}

enum srcfind_status fits_file_open(struct fits_file *file, const char *path, struct error *error) {
    struct stat facts;
    *file = (struct fits_file){.path = path, .descriptor = -1, .packing = ""};
    if (stat(path, &facts) != 0)
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: %s, not a file with an image", path,
                         S_ISDIR(facts.st_mode) ? "a directory" : "a device, pipe or socket");
    if (facts.st_size == 0)
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: the file is empty", path);
    file->size = facts.st_size;
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0)
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: %s", path, strerror(errno));
    enum srcfind_status status = look_at_start(file, error);
    if (status != SRCFIND_OK || !*file->packing)
        return status;
    status = fits_file_need_cfitsio(file, error);
    if (status == SRCFIND_OK && !(file->handle = cfitsio_open(file->cfitsio, path, 0, error)))
        status = SRCFIND_ERROR_INPUT;
    return status;
}

void fits_file_close(struct fits_file *file) {
    if (file->handle)
        cfitsio_close(file->cfitsio, file->handle);
    if (file->descriptor >= 0)
        close(file->descriptor);
    *file = (struct fits_file){.descriptor = -1};
}

void hdu_clear(struct hdu *hdu) {
    header_clear(&hdu->header);
    *hdu = (struct hdu){0};
}

/* --- what a header says of its data --- */

/* total *= n; false where it would pass 2^62. */
static bool multiply(int64_t *total, int64_t n) {
    int64_t product;
    if (n < 0 || __builtin_mul_overflow(*total, n, &product) || product > INT64_MAX / 2)
        return false;
    *total = product;
    return true;
}

/* Bytes of the data unit, without padding, by the FITS standard 4.4.1; false if the header does not
 * say or means more than can be. */
static bool data_bytes(const struct header *header, int64_t *bytes) {
    int64_t bitpix, n_axes, pcount = 0, gcount = 1, axis;
    bool groups = false;
    if (!header_integer(header, "BITPIX", &bitpix) || !header_integer(header, "NAXIS", &n_axes) ||
        n_axes < 0 || n_axes > 999 || llabs(bitpix) > 64 || bitpix % 8 != 0)
        return false;
    header_integer(header, "PCOUNT", &pcount);
    header_integer(header, "GCOUNT", &gcount);
    header_logical(header, "GROUPS", &groups);
    int64_t pixels = n_axes > 0 ? 1 : 0;
    for (int i = 1; i <= n_axes; i++) {
        if (!header_indexed(header, "NAXIS", i, &axis))
            return false;
        if (!(i == 1 && axis == 0 && groups) && !multiply(&pixels, axis))
            return false;
    }
    *bytes = pixels;
    return pcount >= 0 && !__builtin_add_overflow(*bytes, pcount, bytes) &&
           multiply(bytes, gcount) && multiply(bytes, llabs(bitpix) / 8);
}

static bool is_bitpix(int64_t bitpix) {
    return bitpix == 8 || bitpix == 16 || bitpix == 32 || bitpix == 64 || bitpix == -32 ||
           bitpix == -64;
}

/* Axes of the image that the header describes, itself or (prefix Z) in compressed tiles. */
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

/* Whether the tiles of a compressed image are as many as the table has rows. */
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

static void describe(struct hdu *hdu) {
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

/* --- walking --- */

static bool is_end(const char *card) {
    return memcmp(card, "END     ", 8) == 0;
}

static enum srcfind_status bad_header(const struct fits_file *file, const struct hdu *hdu,
                                      const char *what, struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: the header of HDU %d %s: is the file damaged?", file->path, hdu->number,
                     what);
}

/* Reads header blocks from an offset to the one with END. */
static enum srcfind_status read_cards(const struct fits_file *file, struct hdu *hdu, int64_t offset,
                                      struct error *error) {
    struct header *header = &hdu->header;
    for (int64_t block = 0; block < MOST_HEADER_BLOCKS; block++) {
        const int64_t at = block * BLOCK;
        char *grown = realloc(header->cards, (size_t)at + BLOCK + 1);
        if (!grown)
            return error_memory(error, "reading a header");
        header->cards = grown;
        if (offset + at + BLOCK > file->size)
            break;
        const enum srcfind_status status =
            fits_file_read(file, header->cards + at, BLOCK, offset + at, error);
        if (status != SRCFIND_OK)
            return status;
        for (int card = 0; card < BLOCK / CARD; card++) {
            if (is_end(header->cards + at + CARD * card)) {
                header->n_cards = at / CARD + card;
                header->cards[header->n_cards * CARD] = '\0';
                hdu->data = offset + at + BLOCK;
                return SRCFIND_OK;
            }
        }
    }
    return bad_header(file, hdu, "has no END", error);
}

/* Whether an HDU can begin here; other bytes may follow the last one. */
static bool begins_hdu(const struct fits_file *file, int64_t offset) {
    char start[8];
    struct error ignored;
    return offset + BLOCK <= file->size &&
           fits_file_read(file, start, sizeof start, offset, &ignored) == SRCFIND_OK &&
           memcmp(start, offset == 0 ? "SIMPLE  " : "XTENSION", sizeof start) == 0;
}

static enum srcfind_status next_plain(struct fits_file *file, struct hdu *hdu, int number,
                                      int64_t offset, bool *found, struct error *error) {
    int64_t bytes;
    hdu->number = number;
    *found = begins_hdu(file, offset);
    if (!*found)
        return number > 0 ? SRCFIND_OK
                          : error_set(error, SRCFIND_ERROR_INPUT,
                                      "%s: the file ends within its first header", file->path);
    enum srcfind_status status = read_cards(file, hdu, offset, error);
    if (status != SRCFIND_OK)
        return status;
    if (!data_bytes(&hdu->header, &bytes))
        return bad_header(file, hdu, "does not say how much data follow", error);
    hdu->next = hdu->data + (bytes + BLOCK - 1) / BLOCK * BLOCK;
    describe(hdu);
    if (hdu->is_image && hdu->data + bytes > file->size)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: truncated: HDU %d needs %lld bytes, and the file has %lld",
                         file->path, hdu->number, (long long)(hdu->data + bytes),
                         (long long)file->size);
    return SRCFIND_OK;
}

static enum srcfind_status next_packed(struct fits_file *file, struct hdu *hdu, int number,
                                       bool *found, struct error *error) {
    int code = 0, type, n_cards = 0, n_hdus = 0;
    char *cards = NULL;
    file->cfitsio->ffthdu(file->handle, &n_hdus, &code);
    *found = !code && number < n_hdus;
    if (!code && !*found)
        return SRCFIND_OK;
    hdu->number = number;
    hdu->data = hdu->next = -1;
    file->cfitsio->ffmahd(file->handle, number + 1, &type, &code);
    file->cfitsio->ffhdr2str(file->handle, 0, NULL, 0, &cards, &n_cards, &code);
    if (code)
        return cfitsio_error(file->cfitsio, file->path, code, error);
    hdu->header.cards = malloc((size_t)n_cards * CARD + 1);
    if (hdu->header.cards) {
        memcpy(hdu->header.cards, cards, (size_t)n_cards * CARD);
        while (n_cards > 0 && is_end(hdu->header.cards + CARD * (n_cards - 1)))
            n_cards--;
        hdu->header.cards[CARD * n_cards] = '\0';
        hdu->header.n_cards = n_cards;
        describe(hdu);
    }
    file->cfitsio->fffree(cards, &code);
    return hdu->header.cards ? SRCFIND_OK : error_memory(error, "reading a header");
}

enum srcfind_status hdu_next(struct fits_file *file, struct hdu *hdu, bool *found,
                             struct error *error) {
    const int number = hdu->header.cards ? hdu->number + 1 : 0;
    const int64_t offset = hdu->next;
    hdu_clear(hdu);
    return *file->packing ? next_packed(file, hdu, number, found, error)
                          : next_plain(file, hdu, number, offset, found, error);
}
