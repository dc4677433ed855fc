/* Whether two images have the same grid: the same pixels at the same sky positions. */
#ifndef SAME_GRID_H
#define SAME_GRID_H

#include "input/image.h"

/* Checks that an image has the shape and the sky coordinates of another one, to 0.01 pixel at the
 * corners, the middle of the sides and the centre. The error names the cards that differ. */
enum srcfind_status same_grid_check(const struct image *image, const struct srcfind_image *metadata,
                                    const struct image *other, const struct srcfind_image *of_other,
                                    struct error *error);

/* Compares two images of one shape. If both have sky coordinates, and these differ by more than a
 * pixel at one of the points, writes the distance and the cards that differ: `, up to 20 pixels
 * apart: CRVAL1 is 10 (in the image: 9)`. Else the text becomes "". */
enum srcfind_status same_grid_compare(const struct image *image,
                                      const struct srcfind_image *metadata,
                                      const struct image *other,
                                      const struct srcfind_image *of_other, char *text, size_t size,
                                      struct error *error);

#endif
