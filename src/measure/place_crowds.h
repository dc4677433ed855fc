/* Places that are too many to be told apart. */
#ifndef PLACE_CROWDS_H
#define PLACE_CROWDS_H

#include "measure/place.h"

/* Marks the places of crowds: more than sixteen places whose shapes have about the same area, in a
 * square of at most this area (FWHM^2). Their fluxes mean nothing. Four of a square are still
 * fitted, so that neighbours do not get their emission; the others lose their shapes. This bounds
 * the pixels that all places use together to a multiple of the image's. */
bool place_crowds_mark(struct place *places, int64_t n);

#endif
