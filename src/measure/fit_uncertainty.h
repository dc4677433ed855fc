/* One-sigma errors of a fitted Gaussian, in noise of a given autocorrelation. tests/bench/errors.py
 * compares them with the true errors on synthetic skies. */
#ifndef FIT_UNCERTAINTY_H
#define FIT_UNCERTAINTY_H

#include "backend/gaussian.h"
#include "measure/correlation.h"

/* Errors of second moments along the axes of the source, in the frame where the beam is round.
 * `to_pixels` is the 2 x 2 matrix, row by row, from these axes to pixels. */
struct shape_error {
    double to_pixels[4];
    double major, minor, mixed; /* variances of the moments along both axes, and of the mixed one */
    double covariance;          /* of the first two */
    double major_mixed, minor_mixed; /* of each of them and the mixed one */
};

struct fit_uncertainty {
    struct tensor position;               /* covariance, in pixels^2 */
    double relative_peak, relative_total; /* errors of the fluxes / the fluxes */
    double area, e_area; /* product of the widths, in that of the beam, and its error */
    struct shape_error shape;
};

/* Errors of a Gaussian whose peak is 1 rms: those of the weighted least squares of
 * backend/fit_island.h. frame: where the beam is the unit circle. If the shape is that of the beam,
 * the errors of the shape are those that a free one would have had.
 *
 * With g the source's shape, s the derivatives of the model by the parameters, W = g^(2p) the
 * weights of the squares (p = fit_core_exponent: 2 for a point) and C the autocorrelation of the
 * noise, the covariance of the parameters is rms^2 A^-1 B A^-1, where A = integral of s W s^T and
 * B = double integral of s W C W s^T. The first has a closed form. The second is a sum over the
 * lags of C: the integral of s W at all positions times s W at a lag has a closed form, too. It is
 * the mean over all places of the centre between pixels. */
struct fit_uncertainty fit_uncertainty_of(const struct gaussian *gaussian,
                                          const struct fit_frame *frame,
                                          const struct correlation *correlation,
                                          bool has_beam_shape);

/* The errors of the same Gaussian with another peak / rms. */
struct fit_uncertainty fit_uncertainty_at(const struct fit_uncertainty *of_one, double snr);

#endif
