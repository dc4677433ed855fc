/* Writes maps: FITS files of one plane of float32 or 32-bit integer values. */
#ifndef FITS_MAP_H
#define FITS_MAP_H

#include <stdio.h>

#include "common/threads.h"
#include "input/fits/hdu.h"
#include "input/pixel_source.h"
#include "output/cards.h"

/* Writes a map to a new file: the header, which cards_end has completed, and the values of the
 * source, which may be integers, chunk by chunk. `name` is for the error message. */
enum srcfind_status fits_map_write(const struct cards *header, const struct pixel_source *values,
                                   struct threads *threads, FILE *file, const char *name,
                                   struct error *error);

/* Reads the HDU of a file that has an image, complete to the end of its last block, and nothing
 * else, as maps are. False if it has not. The caller clears the HDU, also then. */
bool fits_map_read(const char *path, struct hdu *hdu);

#endif
