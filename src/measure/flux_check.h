/* No fit may make flux out of nothing: where the Gaussians of an island have far more flux than its
 * pixels, it is fitted again with more of them. A Gaussian as wide as the island does so: it goes
 * on outside, or in a hole, where no pixel was fitted. */
#ifndef FLUX_CHECK_H
#define FLUX_CHECK_H

#include "measure/island_fit.h"

/* The limits by which an island's fit is checked. */
struct flux_check {
    double threshold, island; /* of sources and of their islands, in units of the rms */
    double correlated;        /* pixels over which noise is correlated if it is as the beam is */
};

/* Leaves out the Gaussians that fits added and whose centres are neither on a pixel of the island
 * nor beside one: no pixel tells that there is a source. Returns whether there were any: the others
 * were fitted together with them. */
bool flux_check_drop_unsupported(const struct island_fit *fit, const struct fit_frame *frame,
                                 struct fit_job *jobs);

/* Whether the Gaussians of an island have together at most 1.5 times its flux, which is corrected
 * for the flux below the island threshold as if it were one Gaussian. True also if the flux is less
 * than ten errors, or the island threshold is not below the detection threshold. */
bool flux_check_holds(const struct flux_check *check, const struct island_fit *fit,
                      const struct fit_frame *frame, const struct fit_job *jobs);

/* Makes the start of a fit with more Gaussians, each of which describes a part of the island: its
 * peaks, and the highest of its other pixels, some twenty in a round one. *widest: the bound of
 * widths, in beams. The result is in the arena; it shares `source_of` with the fit's division. */
bool flux_check_add_peaks(const struct island_fit *fit, const struct fit_frame *frame,
                          struct arena *arena, struct deblended *more, double *widest);

#endif
