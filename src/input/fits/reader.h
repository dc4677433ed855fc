/* Reads the pixels of an image in a file as float32 values, from the data unit or from compressed
 * tiles. Values of other types are rounded once. */
#ifndef READER_H
#define READER_H

#include "input/fits/hdu.h"
#include "input/fits/tiles.h"
#include "input/pixel_source.h"

struct reader {
    const struct fits_file *file;
    int bitpix;
    struct scaling scaling;
    int64_t n_pixels;    /* of the plane */
    int64_t data;        /* offset in the file of the plane's first pixel; unused for tiles */
    struct tiles *tiles; /* NULL if the image is not tile-compressed */
};

/* Makes a source of a plane. `plane` is the index of its first pixel in the image. Until the reader
 * is closed, it must not be moved, and file and hdu must exist. Close it also after an error. */
enum srcfind_status reader_open(struct reader *reader, struct fits_file *file,
                                const struct hdu *hdu, int64_t plane, struct pixel_source *source,
                                struct error *error);
void reader_close(struct reader *reader);

/* Keeps the pixels of compressed tiles once they are unpacked: for a plane that is read several
 * times. To be called before the first read. */
void reader_keep(const struct reader *reader);

/* Asks the operating system to start reading an uncompressed plane into its cache. */
void reader_prefetch(const struct reader *reader);

#endif
