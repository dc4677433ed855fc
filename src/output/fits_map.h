/* Writes maps: FITS files of one plane of float32 or 32-bit integer values. */
#ifndef FITS_MAP_H
#define FITS_MAP_H

#include <stdio.h>

#include "common/error.h"
#include "input/fits/hdu.h"
#include "output/cards.h"

/* A map that is being written. Several threads may put values at the same time. */
struct fits_map {
    int file;
    int64_t data;     /* offset of the first value */
    const char *name; /* of the file, for errors */
};

/* Begins a map of n_pixels values in a new file: writes the header, which cards_end has completed,
 * and the padding behind the values. `name` must outlive the map. */
enum srcfind_status fits_map_begin(struct fits_map *map, const struct cards *header,
                                   int64_t n_pixels, FILE *file, const char *name,
                                   struct error *error);

/* Writes n values from number `first` on, float32 or integers in the byte order of the host. The
 * call may change their byte order in `values`. */
enum srcfind_status fits_map_put(const struct fits_map *map, int64_t first, int64_t n,
                                 uint32_t *values, struct error *error);

/* Reads the only HDU of a map. False unless the file has one HDU, an image, and ends with its last
 * block. The caller clears the HDU, also then. */
bool fits_map_read(const char *path, struct hdu *hdu);

#endif
