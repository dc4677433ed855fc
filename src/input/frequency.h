/* The frequency of an image's plane. */
#ifndef FREQUENCY_H
#define FREQUENCY_H

#include "input/fits/header.h"

struct wcsprm;

/* Returns, in Hz, the frequency of the plane image->plane on the first axis of frequencies, in
 * whichever CUNIT; without such an axis, that of its velocity, wavelength, redshift or energy on
 * the first axis that has one of these, as WCSLIB converts it. Without a spectral axis, and without
 * an axis of several planes that has another type than STOKES and the like, the first of the
 * keywords RESTFRQ, RESTFREQ and FREQ that there is. NaN where what is there cannot be converted,
 * is no number, or is not above 0; `reason`, of SRCFIND_REASON characters, says which axis gives
 * none, and is "" otherwise. primary is what WCSLIB has read of the header, and not set up yet;
 * NULL if it could not read it. */
double frequency_of_plane(const struct header *header, const struct wcsprm *primary,
                          const struct srcfind_image *image, char *reason);

#endif
