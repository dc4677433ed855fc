/* CASA's BEAMS table: a beam for each plane of a cube. */
#ifndef BEAM_TABLE_H
#define BEAM_TABLE_H

#include "input/fits/hdu.h"

/* The row of a plane in a file's BEAMS table. */
enum beam_row { BEAM_NO_TABLE, BEAM_NO_ROW, BEAM_EMPTY_ROW, BEAM_ROW };

/* Sets *beam to the beam of the plane image->plane in the BEAMS table of a file, for BEAM_ROW.
 * BEAM_NO_ROW: there is a table, but it cannot be read or has no row of this plane. BEAM_EMPTY_ROW:
 * the row of this plane has no usable beam, as one whose channel was flagged. header is that of the
 * image. */
enum beam_row beam_table_find(struct fits_file *file, const struct header *header,
                              const struct srcfind_image *image, struct srcfind_beam *beam);

#endif
