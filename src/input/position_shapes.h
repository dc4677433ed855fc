/* The shapes of the entries of a catalogue, without its beam, or with the beam beside them. */
#ifndef POSITION_SHAPES_H
#define POSITION_SHAPES_H

#include "input/table_file.h"

/* A shape on the sky: the intrinsic shape is `size` with `psf` taken out. FWHM and position angles
 * in degrees; NaN for an empty cell. */
struct position_shape {
    struct srcfind_beam size, psf; /* psf is 0 if the size has no beam in it */
    struct srcfind_beam whole;     /* of models: as it was measured, with the beam; NaN: unknown */
};

/* Which shapes a table tells, for notes: the columns that position_shapes_read has found. */
struct told_shapes {
    const char *major; /* the name of the column of the major axis; NULL: there are no shapes */
    const char *unit;  /* that of the axes where the table tells none: degrees or arcsec */
    bool are_whole;    /* the beam is in them, and there are no others: Maj, Min and PA */
    bool are_not_read; /* Maj is there, and nothing that is read */
};

/* Whether position_shapes_read may use a column of this name. */
bool position_shapes_use(const char *name);

/* Reads the columns DC_Maj, DC_Min and DC_PA (degrees, if they have no unit), or else Aegean's a,
 * b, pa, psf_a, psf_b and psf_pa, or Selavy's maj_axis_deconv, min_axis_deconv and pos_ang_deconv
 * (axes in arcsec). of_models: else b_maj, b_min and pa, BMAJ, BMIN and PA, or size, which is then
 * round (T-RECS and the SKA's data challenges, in arcsec), and before these FIRST's Maj, Min and
 * PA, which stand beside fMaj, and Maj, Min and PA of others, which are whole shapes: `size` is
 * then 0. Makes an array with an element for each row, which the caller frees; NULL if there are no
 * such columns. Returns an error if the unit of a column is no angle. */
enum srcfind_status position_shapes_read(const char *path, const struct table_file *table,
                                         bool of_models, struct position_shape **shapes,
                                         struct told_shapes *told, struct error *error);

#endif
