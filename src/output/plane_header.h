/* The header of a map: the axes of the image with their coordinates, those beyond the plane with
 * one pixel, and beam, frequency and observation. */
#ifndef PLANE_HEADER_H
#define PLANE_HEADER_H

#include "input/image.h"
#include "output/cards.h"

/* Adds all cards but BUNIT, HISTORY and END. bitpix: of the map; image and metadata: of the image
 * that was searched. */
void plane_header_add(struct cards *cards, int bitpix, const struct image *image,
                      const struct srcfind_image *metadata);

#endif
