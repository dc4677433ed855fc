/* The compression of an image's tiles (FITS standard 10.4), and the unpacking of one tile. RICE,
 * HCOMPRESS and PLIO are decoded by CFITSIO, whose decoders do not check their input: this module
 * checks it for them, and adds padding where they read past its end. */
#ifndef TILE_CODEC_H
#define TILE_CODEC_H

#include "input/fits/cfitsio.h"
#include "input/fits/hdu.h"

/* TILE_NONE: all tiles are in the column UNCOMPRESSED_DATA. */
enum tile_packing { TILE_RICE, TILE_GZIP_1, TILE_GZIP_2, TILE_HCOMPRESS, TILE_PLIO, TILE_NONE };

struct tile_codec {
    enum tile_packing packing;
    int bitpix;                    /* of the image */
    int rice_block, rice_bytes;    /* pixels per block, and bytes per pixel */
    bool smooth;                   /* the SMOOTH parameter of HCOMPRESS */
    const struct cfitsio *cfitsio; /* NULL if the packing does not need it */
};

/* Sets a codec from a compressed image's header, and loads CFITSIO if the codec needs it. The file
 * is for messages. */
enum srcfind_status tile_codec_read(struct tile_codec *codec, const struct fits_file *file,
                                    const struct hdu *hdu, struct error *error);

/* Whether the packing can store floats that are not quantised. */
bool tile_codec_takes_reals(const struct tile_codec *codec);

/* The number of padding bytes that the caller allocates after the packed bytes of a tile of
 * n_pixels, because the decoders read past the end of damaged input. */
int64_t tile_codec_padding_bytes(const struct tile_codec *codec, int64_t n_pixels);

/* An upper limit of the packed size of n_pixels, in bytes. */
int64_t tile_codec_most_packed_bytes(int64_t n_pixels);

/* The size in bytes of the buffer to which n_pixels are unpacked. */
int64_t tile_codec_unpacked_bytes(const struct tile_codec *codec, int64_t n_pixels);

/* Unpacked pixels: integers in this machine's byte order, or big-endian values as in FITS. */
struct tile_pixels {
    const int32_t *integers;     /* NULL for big-endian values */
    const unsigned char *stored; /* the first byte of pixel i is stored[i * pixel_step] */
    int bitpix;
    int64_t pixel_step, byte_step; /* distances of pixels, and of the bytes of a pixel */
};

/* Unpacks a tile of n_pixels in rows of `width`. `packed` has count bytes and
 * tile_codec_padding_bytes() more; `unpacked` has tile_codec_unpacked_bytes(). Both are written to,
 * and *pixels points into `unpacked`. reals: GZIP packed floats, not integers. False if the packed
 * bytes are damaged. */
bool tile_codec_unpack(const struct tile_codec *codec, bool reals, unsigned char *packed,
                       int64_t count, int64_t width, int64_t n_pixels, void *unpacked,
                       struct tile_pixels *pixels);

/* Unpacks a tile of the column GZIP_COMPRESSED_DATA: floats that were not quantised, in an image of
 * any codec. */
bool tile_codec_gunzip_reals(const struct tile_codec *codec, const unsigned char *packed,
                             int64_t count, int64_t n_pixels, void *unpacked,
                             struct tile_pixels *pixels);

#endif
