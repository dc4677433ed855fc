/* Which beams can be used. */
#ifndef USABLE_BEAM_H
#define USABLE_BEAM_H

#include <math.h>

#include "srcfind.h"

/* FWHM of the narrowest beam: in pixels or, if their size on the sky is not known, in degrees. */
#define NARROWEST_BEAM 1e-3
#define NARROWEST_BEAM_ON_SKY 1e-12

/* Whether a beam is usable. For no beam, programs write 0, -1, NaN or the smallest float32; fluxes
 * divided by such an area would be absurd. pixel_area: square degrees; NaN: not known. */
static inline bool beam_is_usable(const struct srcfind_beam *beam, double pixel_area) {
    const double least =
        isnan(pixel_area) ? NARROWEST_BEAM_ON_SKY : NARROWEST_BEAM * sqrt(pixel_area);
    return beam->major > 0 && beam->minor > 0 && beam->major >= least && beam->minor >= least &&
           isnormal(beam->major * beam->minor) && isfinite(beam->angle);
}

#endif
