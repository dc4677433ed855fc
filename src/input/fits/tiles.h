/* The pixels of an image that is compressed in tiles (FITS standard 10): which tiles a plane's
 * pixels are in, and what their unpacked values mean. */
#ifndef TILES_H
#define TILES_H

#include "input/fits/hdu.h"
#include "input/fits/stored.h"
#include "input/pixel_source.h"

struct tiles;

/* Makes the source read the plane whose first pixel is `plane`; its shape is set already. The file
 * and the HDU must last until *tiles is closed; close it also after an error. */
enum srcfind_status tiles_open(struct tiles **tiles, struct fits_file *file, const struct hdu *hdu,
                               const struct scaling *scaling, int64_t plane,
                               struct pixel_source *source, struct error *error);
void tiles_close(struct tiles *tiles);

#endif
