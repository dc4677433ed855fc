/* The pixels of an image in a file as float32: straight from the data unit where that is not
 * compressed, else out of its tiles. Wider values are rounded once. */
#ifndef READER_H
#define READER_H

#include "input/fits/hdu.h"
#include "input/fits/mapping.h"
#include "input/fits/tiles.h"
#include "input/pixel_source.h"

struct reader {
    const struct fits_file *file;
    int bitpix;
    struct scaling scaling;
    int64_t n_pixels;       /* of the plane */
    int64_t data;           /* the byte of the plane's first pixel in the file; not in tiles */
    struct mapping mapping; /* while pixels are lent */
    struct tiles *tiles;    /* NULL where they are not compressed */
};

/* Makes a source of the plane whose first pixel is `plane`. The reader must stay where it is, and
 * file and hdu last, until it is closed; close it also after an error. */
enum srcfind_status reader_open(struct reader *reader, struct fits_file *file,
                                const struct hdu *hdu, int64_t plane, struct pixel_source *source,
                                struct error *error);
void reader_close(struct reader *reader);

/* Has the system begin to read the plane, where it is not compressed. */
void reader_prefetch(const struct reader *reader);

#endif
