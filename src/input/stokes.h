/* The Stokes parameter of a plane. */
#ifndef STOKES_H
#define STOKES_H

#include "input/fits/header.h"

enum { STOKES_TEXT = 8 };

/* Writes I, Q, U, V, RR, LL, RL, LR, XX, YY, XY or YX: the value of the plane on the axis STOKES
 * (FITS 4.0, table 29); "" without such an axis, or with another value. */
void stokes_of_plane(const struct header *header, const struct srcfind_image *image,
                     char text[STOKES_TEXT]);

#endif
