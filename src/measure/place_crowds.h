/* Places that are too many to be told apart. */
#ifndef PLACE_CROWDS_H
#define PLACE_CROWDS_H

#include "measure/place.h"

/* Marks the places of crowds: more than sixteen places whose shapes have about the same area, in a
 * square of at most this area (FWHM^2). No flux of them means anything. Four of a square are still
 * fitted, so that their emission is not in their neighbours; the others lose their shapes. So the
 * pixels that are used at all places are at most a multiple of those of the image. */
bool place_crowds_mark(struct place *places, int64_t n);

#endif
