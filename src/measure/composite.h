/* Sources of several Gaussians, and errors by sums over the pixels of a fit. */
#ifndef COMPOSITE_H
#define COMPOSITE_H

#include "measure/correlation.h"
#include "measure/island_fit.h"
#include "measure/model.h"

/* Errors by noise whose rms is 1 in the map's unit, in pixels. */
struct fit_errors {
    double total, peak;
    struct tensor position; /* covariance of the centre */
    double shape[3][3];     /* covariance of the second moments xx, yy and xy */
};

/* The sum of several Gaussians, in pixels and the map's unit. */
struct composite {
    double total;                      /* its integral: unit x pixels */
    double peak, x_highest, y_highest; /* the highest value, and where it is */
    double x, y;                       /* the centre of flux */
    struct tensor second;              /* second moments about it */
    struct fit_errors error;
};

/* Measures the source of the n Gaussians members[0], ... of an island, which are fitted. noise: its
 * autocorrelation. model: the sum of all Gaussians of the island.
 *
 * The highest value is that of the model of the island, at the centres of the Gaussians and after
 * five of Newton's steps from each, as long as they stay within its half maximum. */
bool composite_measure(const struct island_fit *fit, const struct fit_frame *frame,
                       const struct correlation *noise, const struct fit_job *jobs,
                       const struct fitted_sources *fitted, const struct model *model,
                       const int32_t *members, int64_t n, struct composite *composite);

/* The errors of a Gaussian that was fitted alone, by sums over the pixels of its fit: those of
 * fit_uncertainty_of hold where these pixels are all that it reaches. */
bool composite_errors_of_one(const struct island_fit *fit, const struct fit_frame *frame,
                             const struct correlation *noise, const struct fit_job *jobs,
                             const struct fitted_source *source, struct fit_errors *errors);

#endif
