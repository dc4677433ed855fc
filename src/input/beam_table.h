/* CASA's BEAMS table: a beam for each plane of a cube. */
#ifndef BEAM_TABLE_H
#define BEAM_TABLE_H

#include "input/fits/hdu.h"

/* Sets *beam to that of the row of the plane image->plane in the BEAMS table of a file. False if
 * there is no table that can be read, or it has no usable row of this plane. header is that of the
 * image. */
bool beam_table_find(struct fits_file *file, const struct header *header,
                     const struct srcfind_image *image, struct srcfind_beam *beam);

#endif
