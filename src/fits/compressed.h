/* Pixels that CFITSIO decompresses: images in tiles, by a handle for each thread, and files that
 * are compressed as a whole, by one. */
#ifndef COMPRESSED_H
#define COMPRESSED_H

#include "fits/hdu.h"
#include "fits/scaling.h"
#include "pixels.h"

struct compressed;

/* Makes the source read the plane whose first pixel is `plane`; its shape is set already. File and
 * *compressed must last until it is closed; close it also after an error. */
enum srcfind_status compressed_open(struct compressed **compressed, struct fits_file *file,
                                    const struct hdu *hdu, const struct scaling *scaling,
                                    int64_t plane, struct pixel_source *source,
                                    struct error *error);
void compressed_close(struct compressed *compressed);

#endif
