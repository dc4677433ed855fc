/* CASA's BEAMS table: a beam for each plane of a cube. */
#ifndef BEAM_TABLE_H
#define BEAM_TABLE_H

#include "input/fits/hdu.h"

/* The row of a plane in the BEAMS table of a file. */
enum beam_row { BEAM_NO_TABLE, BEAM_NO_ROW, BEAM_EMPTY_ROW, BEAM_ROW };

/* Finds the row of the plane image->plane in the BEAMS table of a file. BEAM_ROW: *beam is the beam
 * of the row. BEAM_NO_ROW: the table cannot be read, or has no row of this plane. BEAM_EMPTY_ROW:
 * the row has no usable beam, such as that of a flagged channel. header: of the image. */
enum beam_row beam_table_find(struct fits_file *file, const struct header *header,
                              const struct srcfind_image *image, struct srcfind_beam *beam);

#endif
