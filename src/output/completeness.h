/* How complete a catalogue is: bins of the sources that were injected into its image. */
#ifndef COMPLETENESS_H
#define COMPLETENESS_H

#include "measure/injection.h"

enum { COMPLETENESS_SNR_BINS = 7, COMPLETENESS_FLUX_BINS = 10 };

/* Injected sources of a width with low <= true S/N or total flux < high. Values that are not known
 * are NaN. */
struct completeness_bin {
    double width, low, high;
    int64_t injected, found;
    double completeness,
        error;               /* the share that is found; half of Wilson's interval of one sigma */
    double flux_ratio;       /* median of measured / true total flux */
    double flux_scatter;     /* of these, and of positions on an axis in pixels: 1.4826 times */
    double position_scatter; /* the median absolute deviation; */
    double flux_pull, position_pull; /* the same of (measured - true) / error */
};

/* The bins of all widths, one width after the other, by S/N and by flux. */
struct completeness {
    struct completeness_bin *snr, *flux;
    int n_snr, n_flux;
};

/* The bins of flux are equally wide in the logarithm, from 3 times the 10th percentile of flux /
 * S/N over all positions to 20 times the 90th. A flux has another S/N at each position. Positions
 * where this S/N is between INJECTION_LEAST and INJECTION_MOST count with the share of their
 * sources that is found, those of lower S/N as not found, and those of higher S/N with the share of
 * the last bin of S/N. Those of sources of a file go from their lowest to their highest flux, and
 * count them alone. Clear the result also if this fails. */
bool completeness_count(const struct injections *injections, struct completeness *completeness);
void completeness_clear(struct completeness *completeness);

#endif
