/* The header of a map: the axes of the image, of which those beyond the plane have one pixel, with
 * their coordinates, beam, frequency and observation. */
#ifndef PLANE_HEADER_H
#define PLANE_HEADER_H

#include "input/image.h"
#include "output/cards.h"

/* Adds all cards but the unit, the HISTORY and END. bitpix is that of the map; image and metadata
 * are those of the image. */
void plane_header_add(struct cards *cards, int bitpix, const struct image *image,
                      const struct srcfind_image *metadata);

#endif
