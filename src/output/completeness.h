/* How complete a catalogue is: bins of the sources that were added to its image. */
#ifndef COMPLETENESS_H
#define COMPLETENESS_H

#include "measure/injection.h"

enum { COMPLETENESS_SNR_BINS = 7, COMPLETENESS_FLUX_BINS = 10 };

/* Added sources of a width with low <= true S/N or total flux < high. What is not known is NaN. */
struct completeness_bin {
    double width, low, high;
    int64_t injected, found;
    double completeness,
        error;               /* the share that is found; half of Wilson's interval of one sigma */
    double flux_ratio;       /* median of measured / true total flux */
    double flux_scatter;     /* of these, and of positions on an axis in pixels: 1.4826 times */
    double position_scatter; /* the median absolute deviation */
};

/* The bins of each width, n of each: first those of S/N, then those of flux. */
struct completeness {
    struct completeness_bin *snr, *flux;
    int n_snr, n_flux;
};

/* The flux bins are equally wide in the logarithm, from 3 times the 10th percentile of flux / S/N
 * over the places to 20 times the 90th. In such a bin places differ in S/N: those where it is
 * between INJECTION_LEAST and INJECTION_MOST count with the share that is found of the sources
 * there, fainter ones as not found, and brighter ones with the share of the last bin of S/N.
 * False where memory ran out. Clear the result also then. */
bool completeness_count(const struct injections *injections, struct completeness *completeness);
void completeness_clear(struct completeness *completeness);

#endif
