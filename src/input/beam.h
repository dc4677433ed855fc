/* The restoring beam of an image. */
#ifndef BEAM_H
#define BEAM_H

#include "input/fits/hdu.h"

/* Looks in the BMAJ, BMIN, BPA keywords, then in AIPS's HISTORY, then in a CASA BEAMS table (the
 * row of the plane), and sets image's beam, beam_source, and beam_pixels where pixel_area is known.
 * A missing or unusable beam is no error, nor is a table that cannot be read. */
void beam_find(struct fits_file *file, const struct hdu *hdu, const struct srcfind_beam *option,
               struct srcfind_image *image);

#endif
