/* Reads the pixels of a tile-compressed image (FITS standard 10): finds the tiles of a plane, and
 * converts their unpacked values to float32. */
#ifndef TILES_H
#define TILES_H

#include "input/fits/hdu.h"
#include "input/fits/stored.h"
#include "input/pixel_source.h"

struct tiles;

/* Makes the source read a plane; the caller has set the source's width and height. `plane` is the
 * index of the plane's first pixel in the image. The file and the HDU must exist until *tiles is
 * closed. Close *tiles also after an error. */
enum srcfind_status tiles_open(struct tiles **tiles, struct fits_file *file, const struct hdu *hdu,
                               const struct scaling *scaling, int64_t plane,
                               struct pixel_source *source, struct error *error);
void tiles_close(struct tiles *tiles);

/* Keeps the pixels from now on, once they are unpacked, where there is room. To be called before
 * the first read. */
void tiles_keep(struct tiles *tiles);

#endif
