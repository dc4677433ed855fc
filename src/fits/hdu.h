/* The HDUs of a FITS file: their headers, and where their data lie. Plain files are walked here,
 * with every size checked against the file's; files that are compressed as a whole go through
 * CFITSIO. */
#ifndef HDU_H
#define HDU_H

#include "fits/cfitsio.h"
#include "fits/header.h"

struct fits_file {
    const char *path; /* not owned */
    int descriptor;
    int64_t size;                  /* bytes of the file as it lies on the disk */
    const char *packing;           /* "gzip" and the like for a whole file, else "" */
    const struct cfitsio *cfitsio; /* NULL until it is needed */
    fitsfile *handle;              /* open for packed files */
};

struct hdu {
    int number; /* 0 is the primary */
    struct header header;
    int64_t data, next; /* byte offsets of the data unit and the next HDU; -1 in packed files */
    bool is_image, is_compressed; /* an image at all; a tile-compressed one */
    int bitpix, n_axes;           /* of the image, uncompressed */
    int64_t axes[SRCFIND_MAX_AXES];
};

enum srcfind_status fits_file_open(struct fits_file *file, const char *path, struct error *error);
void fits_file_close(struct fits_file *file);

/* Goes to the next HDU, or the first if hdu is {0}. *found is false behind the last. The HDU is to
 * be cleared at the end, also after an error. */
enum srcfind_status hdu_next(struct fits_file *file, struct hdu *hdu, bool *found,
                             struct error *error);
void hdu_clear(struct hdu *hdu);

/* Makes file->cfitsio usable. */
enum srcfind_status fits_file_need_cfitsio(struct fits_file *file, struct error *error);

/* Reads count bytes at an offset, all of them; an error if the file ends before. */
enum srcfind_status fits_file_read(const struct fits_file *file, void *buffer, int64_t count,
                                   int64_t offset, struct error *error);

#endif
