/* One-sigma errors of the measurements of an island, with noise that is correlated over the beam.
 * tests/bench/errors.py compares them with the true errors on synthetic skies. */
#ifndef UNCERTAINTY_H
#define UNCERTAINTY_H

#include "backend/island.h"
#include "backend/tensor.h"
#include "measure/correlation.h"

/* The noise at a source. A Gaussian beam of area A (pixels) has second moments A / (2 pi). */
struct noise {
    double rms;
    double pixels; /* area over which noise is correlated, in pixels: the beam's, at least 1 */
};

/* Error of the sum of an island's n pixels, in units of the rms: that of a box of n pixels with the
 * sides of its box in proportion. */
double uncertainty_of_sum(const struct correlation *noise, const struct island *island, double n);

struct uncertainty {
    struct tensor position; /* covariance, in pixels^2 */
    double relative_total;  /* error of the total flux / total flux */
};

/* Errors of a source. shape: its second moments, pixels^2; 0 if unknown. Where it is narrower than
 * the beam, the beam's width is used. snr: peak / rms. n: pixels of the island. spread: sum over
 * these pixels of (x - centroid)^2 and so on. sum: of their values, in map units.
 * The error of the position is, along x and along y, the larger of
 * - the error of a Gaussian fit: Condon 1997, PASP 109, 166, eq. 21, with the exponents of Condon
 *   et al. 1998, AJ 115, 1693, eq. 26, for correlated noise;
 * - the noise of the centroid of given pixels: rms^2 A sum((x - centroid)^2) / sum^2.
 * The error of the total flux is Condon et al. 1998, eq. 36, with 1 / n added in quadrature: the
 * area of an island is known to about one pixel. */
struct uncertainty uncertainty_of_source(const struct noise *noise, const struct tensor *shape,
                                         double snr, const struct tensor *spread, double sum,
                                         double n);

#endif
