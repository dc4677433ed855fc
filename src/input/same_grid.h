/* Whether two images have the same grid: pixels, and where these are on the sky. */
#ifndef SAME_GRID_H
#define SAME_GRID_H

#include "input/image.h"

/* Checks that an image has the shape of another one, and its sky coordinates to 0.01 pixel at the
 * corners, at the middle of the sides and in the centre. The error names the cards that differ. */
enum srcfind_status same_grid_check(const struct image *image, const struct srcfind_image *metadata,
                                    const struct image *other, const struct srcfind_image *of_other,
                                    struct error *error);

/* Where two images of one shape both have sky coordinates, and these differ by more than a pixel at
 * one of these points, writes how far they are apart and the cards that differ: `, up to 20 pixels
 * apart: CRVAL1 is 10 (in the image: 9)`. Else the text becomes "". */
enum srcfind_status same_grid_compare(const struct image *image,
                                      const struct srcfind_image *metadata,
                                      const struct image *other,
                                      const struct srcfind_image *of_other, char *text, size_t size,
                                      struct error *error);

#endif
