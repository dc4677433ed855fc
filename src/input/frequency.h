/* The frequency of an image's plane. */
#ifndef FREQUENCY_H
#define FREQUENCY_H

#include "input/fits/header.h"

struct wcsprm;

/* Returns the frequency, in Hz, of the plane image->plane: on the first axis of frequencies, in any
 * CUNIT; without one, on the first axis of velocity, wavelength, redshift or energy, as WCSLIB
 * converts it. Without a spectral axis, and without an axis of several planes of a type other than
 * STOKES and the like, it is the first of the keywords RESTFRQ, RESTFREQ and FREQ that the header
 * has. NaN if it cannot be converted, is no number, or is not above 0; `reason`, of SRCFIND_REASON
 * characters, then names the axis, and is "" otherwise. primary: the header as WCSLIB has read it,
 * not set up; NULL if WCSLIB could not read it. */
double frequency_of_plane(const struct header *header, const struct wcsprm *primary,
                          const struct srcfind_image *image, char *reason);

#endif
