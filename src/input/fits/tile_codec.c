#include "input/fits/tile_codec.h"

#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "input/fits/gunzip.h"
#include "input/fits/stored.h"

enum {
    MOST_BLOCK = 1 << 12, /* pixels of a RICE block; the standard has 16 and 32 */
    DEFAULT_BLOCK = 32,
    HCOMPRESS_HEADER = 25, /* bytes: magic, two axes, scale, sum, three numbers of bit planes */
    MOST_BIT_PLANES = 40,
};

/* --- header --- */

bool tile_codec_takes_reals(const struct tile_codec *codec) {
    return codec->packing == TILE_GZIP_1 || codec->packing == TILE_GZIP_2 ||
           codec->packing == TILE_NONE;
}

static bool find_packing(const char *name, enum tile_packing *packing) {
    static const struct {
        const char *name;
        enum tile_packing packing;
    } names[] = {{"RICE_1", TILE_RICE},    {"RICE_ONE", TILE_RICE},         {"GZIP_1", TILE_GZIP_1},
                 {"GZIP_2", TILE_GZIP_2},  {"HCOMPRESS_1", TILE_HCOMPRESS}, {"PLIO_1", TILE_PLIO},
                 {"NOCOMPRESS", TILE_NONE}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].name, name) == 0) {
            *packing = names[i].packing;
            return true;
        }
    }
    return false;
}

/* A parameter of the codec: ZVALn for the n with ZNAMEn = name; default_value if there is none. */
static int64_t parameter(const struct header *header, const char *name, int64_t default_value) {
    enum { MOST_PARAMETERS = 9 };
    int64_t value = default_value;
    for (int i = 1; i <= MOST_PARAMETERS; i++) {
        char text[SRCFIND_TEXT];
        if (header_text(header, header_keyword("ZNAME", i).text, text, sizeof text) &&
            ascii_same(text, name))
            header_indexed(header, "ZVAL", i, &value);
    }
    return value;
}

/* False if CFITSIO's RICE decoder would not terminate with the block size, or the number of bytes
 * per pixel is unknown. */
static bool read_parameters(struct tile_codec *codec, const struct header *header) {
    const int64_t block = parameter(header, "BLOCKSIZE", DEFAULT_BLOCK);
    const int64_t bytes = parameter(header, "BYTEPIX", 4);
    codec->smooth = parameter(header, "SMOOTH", 0) != 0;
    codec->rice_block = (int)block;
    codec->rice_bytes = (int)bytes;
    return block >= 1 && block <= MOST_BLOCK && (bytes == 1 || bytes == 2 || bytes == 4);
}

enum srcfind_status tile_codec_read(struct tile_codec *codec, const struct fits_file *file,
                                    const struct hdu *hdu, struct error *error) {
    char name[SRCFIND_TEXT] = "";
    *codec = (struct tile_codec){.bitpix = hdu->bitpix};
    header_text(&hdu->header, "ZCMPTYPE", name, sizeof name);
    if (!find_packing(name, &codec->packing))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: compressed by %s, which srcfind does not know: unpack it first",
                         file->path, *name ? name : "an algorithm that ZCMPTYPE does not name");
    if (!read_parameters(codec, &hdu->header))
        return error_set(
            error, SRCFIND_ERROR_INPUT,
            "%s: HDU %d: compressed by %s with impossible parameters: is the file damaged?",
            file->path, hdu->number, name);
    if (!tile_codec_takes_reals(codec) && !(codec->cfitsio = cfitsio_load(error)))
        return SRCFIND_ERROR_INPUT;
    return SRCFIND_OK;
}

/* --- sizes of buffers --- */

/* RICE decoders read past the end by up to one block: its pixels stored without coding, or the 1
 * bits that end its runs of zeros. HCOMPRESS decoders do so by up to one bit plane of one quadrant,
 * whose quadtree has fewer nodes than the tile has pixels, with codes of up to 6 bits, and by the
 * sign bits of all pixels; no axis is shorter than 4. */
int64_t tile_codec_padding_bytes(const struct tile_codec *codec, int64_t n_pixels) {
    switch (codec->packing) {
    case TILE_RICE:
        return 4 * codec->rice_block + 16;
    case TILE_HCOMPRESS:
        return n_pixels + n_pixels / 8 + 64;
    default:
        return 16;
    }
}

int64_t tile_codec_most_packed_bytes(int64_t n_pixels) {
    return 16 * n_pixels + 4096;
}

int64_t tile_codec_unpacked_bytes(const struct tile_codec *codec, int64_t n_pixels) {
    const bool wide = codec->packing == TILE_HCOMPRESS || abs(codec->bitpix) == 64;
    return n_pixels * (wide ? 8 : 4);
}

/* --- unpacking --- */

static struct tile_pixels integers_in(const void *unpacked) {
    return (struct tile_pixels){.integers = unpacked, .bitpix = 32};
}

/* Whether RICE data have at least the bits of each block's code, so that a short array cannot claim
 * many pixels. */
static bool is_long_enough(const struct tile_codec *c, int64_t count, int64_t n_pixels) {
    const int code_bits = c->rice_bytes == 4 ? 5 : c->rice_bytes == 2 ? 4 : 3;
    const int64_t blocks = (n_pixels + c->rice_block - 1) / c->rice_block;
    return count >= c->rice_bytes && count <= INT32_MAX &&
           8 * (count - c->rice_bytes) >= code_bits * blocks;
}

static void widen_shorts(int32_t *pixels, int64_t n) {
    const int16_t *narrow = (const int16_t *)(const void *)pixels;
    for (int64_t i = n - 1; i >= 0; i--)
        pixels[i] = narrow[i];
}

static void widen_bytes(int32_t *pixels, int64_t n) {
    const unsigned char *narrow = (const unsigned char *)pixels;
    for (int64_t i = n - 1; i >= 0; i--)
        pixels[i] = narrow[i];
}

/* The decoder checks for the end of the packed bytes only after each block. Padding of 1 bits ends
 * its runs of zeros. */
static bool unpack_rice(const struct tile_codec *c, unsigned char *packed, int64_t count,
                        int64_t n_pixels, void *unpacked) {
    const int n = (int)n_pixels, length = (int)count;
    if (!is_long_enough(c, count, n_pixels))
        return false;
    memset(packed + count, 0xff, (size_t)tile_codec_padding_bytes(c, n_pixels));
    if (c->rice_bytes == 4)
        return c->cfitsio->fits_rdecomp(packed, length, unpacked, n, c->rice_block) == 0;
    if (c->rice_bytes == 2) {
        if (c->cfitsio->fits_rdecomp_short(packed, length, unpacked, n, c->rice_block) != 0)
            return false;
        widen_shorts(unpacked, n_pixels);
        return true;
    }
    if (c->cfitsio->fits_rdecomp_byte(packed, length, unpacked, n, c->rice_block) != 0)
        return false;
    widen_bytes(unpacked, n_pixels);
    return true;
}

/* Whether the header of an HCOMPRESS stream is that of a tile with rows of `width` pixels. */
static bool is_hcompressed(const unsigned char *packed, int64_t count, int64_t width,
                           int64_t n_pixels) {
    enum { LEAST_AXIS = 4 }; /* CFITSIO writes no shorter axes */
    if (count < HCOMPRESS_HEADER)
        return false;
    const int64_t y = load_integer(packed + 2, 32, 1), x = load_integer(packed + 6, 32, 1);
    for (int i = 1; i <= 3; i++)
        if (packed[HCOMPRESS_HEADER - i] > MOST_BIT_PLANES)
            return false;
    return x >= LEAST_AXIS && y >= LEAST_AXIS && x <= n_pixels && x * y == n_pixels &&
           (x == width || width == 1);
}

/* The decoder writes as many pixels as the stream's header says, and reads until it has them. It
 * requires that the next four bits are 0 or 15 before each bit plane, and 0 after the last. The
 * padding repeats the bits 0001, and four bits of it from any position are neither, so the decoder
 * stops there with an error. */
static bool unpack_hcompress(const struct tile_codec *c, unsigned char *packed, int64_t count,
                             int64_t width, int64_t n_pixels, void *unpacked) {
    int x, y, scale, status = 0;
    if (!is_hcompressed(packed, count, width, n_pixels))
        return false;
    memset(packed + count, 0x11, (size_t)tile_codec_padding_bytes(c, n_pixels));
    memset(unpacked, 0, (size_t)tile_codec_unpacked_bytes(c, n_pixels));
    if (c->bitpix == 8 || c->bitpix == 16)
        c->cfitsio->fits_hdecompress(packed, c->smooth, unpacked, &x, &y, &scale, &status);
    else
        c->cfitsio->fits_hdecompress64(packed, c->smooth, unpacked, &x, &y, &scale, &status);
    return status == 0;
}

/* The number of pixels that the instructions [first, length) of a PLIO line list decode to. */
static int64_t plio_pixels(const int16_t *words, int64_t first, int64_t length) {
    enum { ZEROS, SET_HIGH, ADD, SUBTRACT, ONES, ZEROS_AND_ONE, ADD_AND_ONE, SUBTRACT_AND_ONE };
    int64_t pixels = 0;
    for (int64_t i = first; i < length; i++) {
        const int code = words[i] >> 12, data = words[i] & 0xfff;
        if (code == ZEROS || code == ONES || code == ZEROS_AND_ONE)
            pixels += data;
        if (code == ADD_AND_ONE || code == SUBTRACT_AND_ONE)
            pixels++;
        if (code == SET_HIGH)
            i++; /* an instruction of two words */
    }
    return pixels;
}

/* A PLIO line list is an array of 16-bit words. Its header, of an old or a new form, has its length
 * and the index of its first instruction. */
static bool unpack_plio(const struct tile_codec *c, unsigned char *packed, int64_t count,
                        int64_t n_pixels, void *unpacked) {
    enum { LEAST_WORDS = 7, OLD_HEADER = 3 };
    const int64_t n_words = count / 2;
    int16_t *words = (int16_t *)(void *)packed;
    if (n_words < LEAST_WORDS)
        return false;
    for (int64_t i = 0; i < n_words; i++)
        words[i] = (int16_t)load_integer(packed + 2 * i, 16, 1);
    words[n_words] = 0; /* the last instruction may lack its second word */
    const bool is_old = words[2] > 0;
    const int64_t length = is_old ? words[2] : (int64_t)words[4] * 32768 + words[3];
    const int64_t first = is_old ? OLD_HEADER : words[1];
    if (first < 0 || length > n_words || plio_pixels(words, first, length) < n_pixels)
        return false;
    c->cfitsio->pl_l2pi(words, 1, unpacked, (int)n_pixels);
    return true;
}

/* Unpacks big-endian pixels. The unpacked size gives the number of bytes per pixel.
 * shuffled (GZIP_2): the first bytes of all pixels come first, then all second bytes, and so on. */
static bool unpack_gzip(const struct tile_codec *c, bool reals, bool shuffled,
                        const unsigned char *packed, int64_t count, int64_t n_pixels,
                        void *unpacked, struct tile_pixels *pixels) {
    const int64_t bytes =
        gunzip_bytes(packed, count, unpacked, tile_codec_unpacked_bytes(c, n_pixels));
    const int64_t size = bytes > 0 && bytes % n_pixels == 0 ? bytes / n_pixels : 0;
    if (size != 4 && size != 8 && (reals || (size != 1 && size != 2)))
        return false;
    *pixels = (struct tile_pixels){.stored = unpacked,
                                   .bitpix = (int)(reals ? -8 * size : 8 * size),
                                   .pixel_step = shuffled ? 1 : size,
                                   .byte_step = shuffled ? n_pixels : 1};
    return true;
}

bool tile_codec_gunzip_reals(const struct tile_codec *codec, const unsigned char *packed,
                             int64_t count, int64_t n_pixels, void *unpacked,
                             struct tile_pixels *pixels) {
    return unpack_gzip(codec, true, false, packed, count, n_pixels, unpacked, pixels);
}

bool tile_codec_unpack(const struct tile_codec *codec, bool reals, unsigned char *packed,
                       int64_t count, int64_t width, int64_t n_pixels, void *unpacked,
                       struct tile_pixels *pixels) {
    *pixels = integers_in(unpacked);
    switch (codec->packing) {
    case TILE_RICE:
        return unpack_rice(codec, packed, count, n_pixels, unpacked);
    case TILE_HCOMPRESS:
        return unpack_hcompress(codec, packed, count, width, n_pixels, unpacked);
    case TILE_PLIO:
        return unpack_plio(codec, packed, count, n_pixels, unpacked);
    case TILE_NONE:
        return false;
    default:
        return unpack_gzip(codec, reals, codec->packing == TILE_GZIP_2, packed, count, n_pixels,
                           unpacked, pixels);
    }
}
