/* The spectral index of a source: S = S0 (nu / nu0)^alpha. */
#ifndef SPECTRUM_H
#define SPECTRUM_H

#include <stdbool.h>
#include <stdint.h>

/* A flux with its error, at ln(nu / nu0). */
struct spectrum_point {
    double x, flux, error;
};

struct spectrum {
    double index, e_index;
    double flux; /* at nu0 */
};

/* Fits a power law to n points by least squares of the fluxes themselves, weighted by their errors,
 * in which faint and negative fluxes count as they should: a fit of logarithms has to leave them
 * out, and is then too flat or too steep. It begins with that of the logarithms. False, with NaN in
 * all members, unless there are two points at least that are three times their error and have
 * different x, or where the fit does not converge. */
bool spectrum_fit(const struct spectrum_point *points, int64_t n, struct spectrum *spectrum);

#endif
