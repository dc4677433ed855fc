/* Restoring beams that programs leave in HISTORY. */
#ifndef BEAM_HISTORY_H
#define BEAM_HISTORY_H

#include "input/fits/header.h"

/* Sets *beam to the beam of the last usable card, of AIPS (`AIPS   CLEAN BMAJ=  1.76E-03 BMIN=
 * 1.57E-03 BPA=   2.61`) or of CASA (`restoration: 1.3 by 0.8 (arcsec) at pa 82 (deg)`). False if
 * there is none. pixel_area: see usable_beam.h. */
bool beam_history_find(const struct header *header, double pixel_area, struct srcfind_beam *beam);

#endif
