/* The restoring beam of an image. */
#ifndef BEAM_H
#define BEAM_H

#include "input/fits/hdu.h"
#include "options/options.h"

/* Finds the beam of a plane and sets image's beam, beam_source, beam_pixels (NaN unless pixel_area
 * is known), beam_is_turned, beam_row_is_missing and row_beam. The order is: the option, the BMAJ,
 * BMIN, BPA keywords, HISTORY cards, the row of the plane in a CASA BEAMS table of the file; the
 * first usable beam is taken, with its larger axis as the major one. file is NULL for pixels in
 * memory. A missing or unusable beam is not an error, nor is a table that cannot be read; but the
 * option's beam is one, if it is unusable. */
enum srcfind_status beam_find(const struct header *header, struct fits_file *file,
                              const struct beam_option *option, struct srcfind_image *image,
                              struct error *error);

/* Takes the beam of the plane's row in the BEAMS table, where the keywords have another one: of the
 * planes of a cube, these can have that of one only. If the row has none, the plane has none. */
void beam_take_row(struct srcfind_image *image);

#endif
