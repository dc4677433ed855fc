/* The HDUs of a FITS file: their headers and the offsets of their data. Every size is checked
 * against the size of the file. */
#ifndef HDU_H
#define HDU_H

#include "input/fits/file.h"
#include "input/fits/header.h"

struct hdu {
    int number; /* 0 is the primary */
    struct header header;
    int64_t data, next; /* byte offsets of the data unit and the next HDU */
    bool is_image;      /* compressed or not */
    bool is_compressed; /* tile-compressed; without is_image its keywords are inconsistent */
    int bitpix, n_axes; /* of the uncompressed image */
    int64_t axes[SRCFIND_MAX_AXES];
};

/* Goes to the next HDU, or to the first if *hdu is {0}. *found is false after the last HDU. The
 * caller clears the HDU at the end, also after an error. */
enum srcfind_status hdu_next(struct fits_file *file, struct hdu *hdu, bool *found,
                             struct error *error);
void hdu_clear(struct hdu *hdu);

#endif
