/* The observation of an image: its date, the telescope and the object. */
#ifndef OBSERVATION_H
#define OBSERVATION_H

#include "input/fits/header.h"
#include "srcfind.h"

/* Sets date_obs, telescope and object of the image, "" if not known. The date is the text of
 * DATE-OBS, if it is a date of FITS, old ones (25/11/86) too; else MJD-OBS, to the millisecond, in
 * the years 0 to 9999. */
void observation_read(const struct header *header, struct srcfind_image *image);

#endif
