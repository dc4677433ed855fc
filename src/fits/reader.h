/* The pixels of an image in a file as float32: straight from the data unit where that is not
 * compressed, else through CFITSIO. Wider values are rounded once. */
#ifndef READER_H
#define READER_H

#include "fits/hdu.h"
#include "pixels.h"

/* How the stored values of an image mean numbers: bzero + bscale * stored, and no number at all
 * where an integer is blank. */
struct scaling {
    double bscale, bzero;
    bool has_blank;
    int64_t blank;
};

struct reader {
    const struct fits_file *file;
    int bitpix;
    struct scaling scaling;
    int64_t plane; /* the first pixel of the plane, counted from 0 */
    int64_t data;  /* its byte in the file, where the data unit is not compressed */

    /* Only for what CFITSIO reads. */
    fitsfile *handle;
    int type;         /* how it gives pixels: TFLOAT, TDOUBLE, TLONGLONG or TULONGLONG */
    bool check_nulls; /* whether it looks for BLANK and the nulls of quantised tiles */
    double *wide;     /* a piece of pixels of 8 bytes, for types other than TFLOAT */
    char *nulls;      /* which of them are null, for integers of 8 bytes */
};

/* Makes a source of the plane whose first pixel is `plane`. The reader must stay where it is, and
 * file and hdu last, until it is closed; close it also after an error. */
enum srcfind_status reader_open(struct reader *reader, struct fits_file *file,
                                const struct hdu *hdu, int64_t plane, struct pixel_source *source,
                                struct error *error);
void reader_close(struct reader *reader);

/* Has the system begin to read n pixels of the plane, where they are not compressed. */
void reader_prefetch(const struct reader *reader, int64_t n);

/* The part of reader_open for compressed images, in compressed.c; the source's shape is set. */
enum srcfind_status reader_open_compressed(struct reader *reader, struct fits_file *file,
                                           const struct hdu *hdu, struct pixel_source *source,
                                           struct error *error);

#endif
