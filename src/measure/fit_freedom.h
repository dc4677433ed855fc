/* Degrees of freedom of fits in correlated noise. */
#ifndef FIT_FREEDOM_H
#define FIT_FREEDOM_H

#include "measure/correlation.h"

/* The areas, in pixels, over which noise is correlated, at least 1: the sum of its autocorrelation
 * over all offsets, and that of its square. Noise with the autocorrelation of a Gaussian beam has
 * the beam's area, and half of it. */
struct noise_areas {
    double one, square;
};

struct noise_areas noise_areas_of(const struct correlation *correlation);

/* By how much the fit of a component lowers the sum of (residual / rms)^2 over the pixels, on
 * average: 1 a parameter if the noise of pixels is independent. c: its parameters; is_free: all six
 * are fitted, else peak and position.
 *
 * The fit takes the part of the noise that its derivatives span: Hermite functions of the source's
 * widths. It is the sum over all offsets of the noise's autocorrelation, times the autocorrelation
 * of these functions, which is exp(-r^2 / 4) (3 - r^2 / 2) for peak and position, and
 * exp(-r^2 / 4) (6 - 2 r^2 + r^4 / 8) for all parameters; r: the offset in widths of the source.
 * The noise's autocorrelation is taken to be a Gaussian with the beam's axes and its own area. */
double fit_freedom_taken(const double c[FIT_PARAMETERS], bool is_free,
                         const struct fit_frame *frame, const struct noise_areas *noise);

#endif
