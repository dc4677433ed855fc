/* One-sigma errors of what is measured on an island, in noise that is correlated over the beam.
 * How well they hold on synthetic skies is measured by tests/bench/errors.py. */
#ifndef UNCERTAINTY_H
#define UNCERTAINTY_H

#include "measure/tensor.h"

/* The noise at a source. A Gaussian beam of area A (pixels) has second moments A / (2 pi). */
struct noise {
    double rms;
    double pixels; /* the area over which noise is correlated: the beam's, and at least 1 */
};

/* Error of the sum over n given pixels, in map units: n pixels within a beam rise and fall
 * together, and further apart they are independent; rms sqrt(n min(n, A)) is PyBDSF's error of
 * island fluxes (bdsf/islands.py) with that bound. */
double uncertainty_of_sum(const struct noise *noise, double n);

struct uncertainty {
    struct tensor position; /* covariance, in pixels^2 */
    double relative_total;  /* error of the total flux / total flux */
};

/* Of a source of second moments `shape` and peak snr times the rms, on an island of n pixels whose
 * own spread is sum((x - centroid)^2), ... over its pixels and whose sum is known.
 * The position: the larger of
 * - the error of a Gaussian fit: Condon 1997, PASP 109, 166, eq. 21, with the exponents of Condon
 * et al. 1998, AJ 115, 1693, eq. 26, for correlated noise;
 * - the noise of the centroid of given pixels: rms^2 A sum((x - centroid)^2) / sum^2.
 * The total flux: Condon et al. 1998, eq. 36, and, since an island's area is known to about a
 * pixel, 1 / n. */
struct uncertainty uncertainty_of_source(const struct noise *noise, const struct tensor *shape,
                                         double snr, const struct tensor *spread, double sum,
                                         double n);

#endif
