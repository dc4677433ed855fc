/* Whether two images have the same grid: pixels, and where these are on the sky. */
#ifndef SAME_GRID_H
#define SAME_GRID_H

#include "input/image.h"

/* Checks that an image has the shape of another one, and its sky coordinates to 0.01 pixel at the
 * corners, at the middle of the sides and in the centre. The error names the cards that differ. */
enum srcfind_status same_grid_check(const struct image *image, const struct srcfind_image *metadata,
                                    const struct image *other, const struct srcfind_image *of_other,
                                    struct error *error);

#endif
