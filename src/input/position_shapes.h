/* The shapes that a catalogue tells of its entries, without its beam or beside it. */
#ifndef POSITION_SHAPES_H
#define POSITION_SHAPES_H

#include "input/table_file.h"

/* A shape on the sky: the entry's own is `size` without `psf`. FWHM and position angles in degrees.
 * NaN where a cell is empty. */
struct position_shape {
    struct srcfind_beam size, psf; /* psf: 0 where the size has no beam in it */
};

/* Whether position_shapes_read may use a column of this name. */
bool position_shapes_use(const char *name);

/* Reads the columns DC_Maj, DC_Min and DC_PA (in degrees, if no unit is known), or else Aegean's a,
 * b, pa, psf_a, psf_b and psf_pa (the axes in arcsec). Makes an array with an element for each row,
 * which the caller frees; NULL if there are no such columns. An error if a column has a unit that
 * is none of an angle. */
enum srcfind_status position_shapes_read(const char *path, const struct table_file *table,
                                         struct position_shape **shapes, struct error *error);

#endif
