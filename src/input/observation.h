/* The observation of an image, from its header: date, telescope and object. */
#ifndef OBSERVATION_H
#define OBSERVATION_H

#include "input/fits/header.h"
#include "srcfind.h"

/* Sets image's date_obs, telescope and object, each "" where it is not known. The date is DATE-OBS
 * as it stands there, if it is a date as FITS has or once had it (25/11/86); else MJD-OBS, to the
 * millisecond, in the years 0 to 9999. */
void observation_read(const struct header *header, struct srcfind_image *image);

#endif
