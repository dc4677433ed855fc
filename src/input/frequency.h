/* The frequency of an image's plane. */
#ifndef FREQUENCY_H
#define FREQUENCY_H

#include "input/fits/header.h"

struct wcsprm;

/* Returns the first of these that there is, in Hz: the frequency of the plane image->plane on the
 * first axis of frequencies, in whichever CUNIT; the keywords RESTFRQ, RESTFREQ, FREQ; NaN. What is
 * no number or is not above 0 is no frequency. primary is what WCSLIB has read of the header, and
 * not set up yet; NULL if it could not read it. */
double frequency_of_plane(const struct header *header, const struct wcsprm *primary,
                          const struct srcfind_image *image);

#endif
