/* How much emission is in the background, and so in no row. */
#ifndef UNMEASURED_H
#define UNMEASURED_H

#include "output/result.h"

/* Sets quality.unmeasured and quality.measured of a result with scales and local noise; else they
 * are NaN. to_flux: flux / pixel sum. False where memory ran out. */
bool unmeasured_find(double to_flux, struct result *result);

/* The scale after the widest one that was searched, in beams; infinity where it is too wide for the
 * image. */
double unmeasured_next_scale(const struct result *result);

#endif
