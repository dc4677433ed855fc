/* How the tiles of a compressed image are packed (FITS standard 10.4), and the unpacking of one.
 * The decoders of RICE, HCOMPRESS and PLIO are CFITSIO's; these trust what they are given, so
 * whatever they rely on is checked here, or room is made for it. */
#ifndef TILE_CODEC_H
#define TILE_CODEC_H

#include "input/fits/cfitsio.h"
#include "input/fits/hdu.h"

/* TILE_NONE has its pixels in the column of those that were left as they are. */
enum tile_packing { TILE_RICE, TILE_GZIP_1, TILE_GZIP_2, TILE_HCOMPRESS, TILE_PLIO, TILE_NONE };

struct tile_codec {
    enum tile_packing packing;
    int bitpix;                    /* of the image */
    int rice_block, rice_bytes;    /* pixels a block, and bytes a pixel */
    bool smooth;                   /* HCOMPRESS */
    const struct cfitsio *cfitsio; /* NULL where it is not needed */
};

/* Reads a compressed image's header. */
enum srcfind_status tile_codec_read(struct tile_codec *codec, const struct fits_file *file,
                                    const struct hdu *hdu, struct error *error);

/* Whether it packs floats as they are, and not integers alone. */
bool tile_codec_takes_reals(const struct tile_codec *codec);

/* How many bytes of room must follow the packed ones in memory for the decoder's sake, where a tile
 * has n_pixels. */
int64_t tile_codec_spare(const struct tile_codec *codec, int64_t n_pixels);

/* More bytes than n_pixels are ever packed to. */
int64_t tile_codec_most_bytes(int64_t n_pixels);

/* Bytes of the room that n_pixels are unpacked to. */
int64_t tile_codec_room(const struct tile_codec *codec, int64_t n_pixels);

/* Unpacked pixels: integers as they are on this machine, or as FITS has them. */
struct tile_pixels {
    const int32_t *integers;     /* NULL for the other kind */
    const unsigned char *stored; /* pixel i's first byte is stored[i * pixel_step] */
    int bitpix;
    int64_t pixel_step, byte_step; /* the next byte is byte_step on */
};

/* Unpacks a tile of n_pixels, `width` a row, from count bytes, behind which is room for
 * tile_codec_spare(), to room for tile_codec_room(). What GZIP packed are `reals`, or integers.
 * False where the bytes are damaged. */
bool tile_codec_unpack(const struct tile_codec *codec, bool reals, unsigned char *packed,
                       int64_t count, int64_t width, int64_t n_pixels, void *room,
                       struct tile_pixels *pixels);

/* The same for floats that were gzipped as they are, whatever the codec of the image is. */
bool tile_codec_gunzip_reals(const struct tile_codec *codec, const unsigned char *packed,
                             int64_t count, int64_t n_pixels, void *room,
                             struct tile_pixels *pixels);

#endif
