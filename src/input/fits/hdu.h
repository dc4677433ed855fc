/* The HDUs of a FITS file: their headers, and where their data lie, with every size checked against
 * the file's. */
#ifndef HDU_H
#define HDU_H

#include "input/fits/file.h"
#include "input/fits/header.h"

struct hdu {
    int number; /* 0 is the primary */
    struct header header;
    int64_t data, next;           /* byte offsets of the data unit and the next HDU */
    bool is_image, is_compressed; /* an image at all; a tile-compressed one */
    int bitpix, n_axes;           /* of the image, uncompressed */
    int64_t axes[SRCFIND_MAX_AXES];
};

/* Goes to the next HDU, or the first if hdu is {0}. *found is false behind the last. The HDU is to
 * be cleared at the end, also after an error. */
enum srcfind_status hdu_next(struct fits_file *file, struct hdu *hdu, bool *found,
                             struct error *error);
void hdu_clear(struct hdu *hdu);

#endif
