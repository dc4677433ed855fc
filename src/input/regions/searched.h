/* Which pixels of an image are searched, by the regions of a file. */
#ifndef SEARCHED_H
#define SEARCHED_H

#include "common/threads.h"
#include "input/blanks.h"
#include "input/image.h"
#include "input/regions/regions.h"

/* Adds the pixels that are not searched to `unsearched`, which has the shape of the image. A pixel
 * is in a region if its centre is. path: of the regions. before: the pixels that are searched
 * before the first region, as bits; NULL: none, or all if this region excludes. An error if the
 * regions are on a sky that the image does not have. */
enum srcfind_status searched_pixels(const struct regions *regions, const char *path,
                                    const struct image *image, const struct srcfind_image *metadata,
                                    const struct blanks *before, struct threads *threads,
                                    struct blanks *unsearched, struct error *error);

#endif
