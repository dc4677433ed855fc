/* The restoring beam of an image. */
#ifndef BEAM_H
#define BEAM_H

#include "input/fits/hdu.h"
#include "options/options.h"

/* Finds the beam of a plane, and sets beam, beam_source, beam_pixels (NaN unless pixel_area is
 * known), beam_is_turned, beam_row_is_missing and row_beam of the image. The first usable beam is
 * taken: of the option, of BMAJ, BMIN and BPA, of HISTORY cards, of the row of the plane in a CASA
 * BEAMS table; its larger axis becomes the major one. file: NULL for pixels in memory. A missing or
 * unusable beam is no error, nor a table that cannot be read; an unusable beam of the option is. */
enum srcfind_status beam_find(const struct header *header, struct fits_file *file,
                              const struct beam_option *option, struct srcfind_image *image,
                              struct error *error);

/* Takes the beam of the row of the plane in the BEAMS table if the keywords have another one: they
 * can have the beam of only one plane of a cube. If the row has no beam, the plane has none. */
void beam_take_row(struct srcfind_image *image);

#endif
