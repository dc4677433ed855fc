/* Which beams can be used. */
#ifndef USABLE_BEAM_H
#define USABLE_BEAM_H

#include <math.h>

#include "srcfind.h"

/* Whether fluxes can be divided by the area of a beam: that of 1e-300 degrees is 0. */
static inline bool beam_is_usable(const struct srcfind_beam *beam) {
    return beam->major > 0 && beam->minor > 0 && isnormal(beam->major * beam->minor) &&
           isfinite(beam->angle);
}

#endif
