/* One-sigma errors of the measurements of an island, with noise that is correlated over the beam.
 * tests/bench/errors.py compares them with the true errors on synthetic skies. */
#ifndef UNCERTAINTY_H
#define UNCERTAINTY_H

#include "backend/gaussian.h"

/* The noise at a source. A Gaussian beam of area A (pixels) has second moments A / (2 pi). */
struct noise {
    double rms;
    double pixels; /* area over which noise is correlated, in pixels: the beam's, at least 1 */
};

/* Error of the sum over n given pixels, in map units: rms sqrt(n min(n, A)). The noise of pixels
 * within one beam area is fully correlated, beyond it independent. PyBDSF's error of island fluxes
 * (bdsf/islands.py) is the same without the bound n. */
double uncertainty_of_sum(const struct noise *noise, double n);

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

/* Errors of second moments along the axes of the source, in the frame where the beam is round.
 * `to_pixels` is the 2 x 2 matrix, row by row, from these axes to pixels. */
struct shape_error {
    double to_pixels[4];
    double major, minor, mixed; /* variances of the moments along both axes, and of the mixed one */
    double covariance;          /* of the first two */
    double major_mixed, minor_mixed; /* of each of them and the mixed one */
};

/* Error by the choice of the beam's shape / the flux that a free shape had more. It is above 1,
 * because a wide source looks like the beam if noise makes it narrow. With it, total fluxes of
 * sources 1.2 to 2 beams wide at 5 to 10 rms scatter by 1.1 of their errors, fluxes of points by
 * 0.75. */
static const double UNCERTAIN_LOSS = 1.5;

struct fit_uncertainty {
    struct tensor position;               /* covariance, in pixels^2 */
    double relative_peak, relative_total; /* errors of the fluxes / the fluxes */
    double area, e_area; /* product of the widths, in that of the beam, and its error */
    struct shape_error shape;
};

/* Errors of a fitted Gaussian: those of the weighted least squares of backend/fit_island.h, in
 * noise whose autocorrelation is the beam, as in images of interferometers. snr: its peak / rms.
 * frame: where the beam is the unit circle. If the shape is that of the beam, the errors of the
 * shape are those that a free one would have had. lost: by how much its flux would then have been
 * larger, as a share of it; the total flux has this error, too, times UNCERTAIN_LOSS.
 *
 * With g the source's shape, s the derivatives of the model by the parameters, W = g^(2p) the
 * weights of the squares (p = fit_core_exponent: 2 for a point) and C the autocorrelation, the
 * covariance of the parameters is rms^2 A^-1 B A^-1, where A = integral of s W s^T and B = double
 * integral of s W C W s^T. Gaussians of x times Gaussians of y have such integrals in closed form.
 * For a point source the errors are 1.01 (peak) and 1.03 (position) times those of Condon 1997 with
 * the exponents of Condon et al. 1998; for one of two to four beams 0.77 to 0.87 times. */
struct fit_uncertainty uncertainty_of_fit(const struct gaussian *gaussian,
                                          const struct fit_frame *frame, double snr,
                                          bool has_beam_shape, double lost);

#endif
