/* Errors of quantities that follow from several Gaussians, which were fitted together. */
#ifndef FIT_COVARIANCE_H
#define FIT_COVARIANCE_H

#include "measure/correlation.h"
#include "measure/island_fit.h"

/* The quantities of a source of several Gaussians, in the frame of the fit: the integral over u and
 * v, the peak, the centre of flux, and the second moments about it. */
enum fit_quantity {
    QUANTITY_TOTAL,
    QUANTITY_PEAK,
    QUANTITY_U,
    QUANTITY_V,
    QUANTITY_UU,
    QUANTITY_VV,
    QUANTITY_UV,
    QUANTITIES
};

/* The derivatives of the quantities by the parameters of a Gaussian. */
struct fit_gradient {
    double of[QUANTITIES][FIT_PARAMETERS];
};

/* Adds the covariance of the quantities, by noise in part k of an island whose rms is 1 in the unit
 * of the peaks of `set`, the part's result. gradients: of each of its components.
 *
 * It is the covariance of fit_uncertainty_of, for several components: their integrals have no
 * closed form where they overlap, so they are sums over the pixels of the fit. With s the
 * derivatives of the model by the parameters, W the weights of the squares and C the
 * autocorrelation of the noise, the covariance of the parameters is A^-1 B A^-1, where A = sum of
 * s W s^T over the pixels and B = sum of s W C W s^T over pairs of pixels; where the beam has many
 * pixels, some of them are enough. noise: C. */
bool fit_covariance_add(const struct island_fit *fit, int64_t k, const struct fit_frame *frame,
                        const struct correlation *noise, const struct fit_set *set,
                        const struct fit_gradient *gradients,
                        double covariance[QUANTITIES][QUANTITIES]);

#endif
