/* The autocorrelation of the noise, measured in an image by pairs of its pixels. */
#ifndef NOISE_PAIRS_H
#define NOISE_PAIRS_H

#include "measure/correlation.h"
#include "measure/run_pixels.h"

/* Measures the autocorrelation in an image whose noise is known, by a fixed sample of its pixels;
 * `correlation` was made by correlation_of_beam.
 *
 * With z = (value - background) / rms, rounded to 1 / 256, of pixels with |z| <= 3 (others are
 * sources), the correlation at a lag is Pearson's m of all pairs of a pixel of a lattice and the
 * one that lies there. Pixels of the lattice with |z| > 5 within 2 FWHM do not count, if 256 are
 * left. Sums are integers, so that all backends get the same. The clip takes a part of it: the
 * correlation is m / (1 - 0.026 (1 - m^2)), within 0.002 for Gaussian noise. A lag with too few
 * pairs keeps the beam's value. All lags do, and is_measured stays false, in an image of less than
 * 30 beam areas, and where the rms is far too small: the mean of z^2 is more than 1.3. Errors:
 * reading, memory. */
enum srcfind_status noise_pairs_measure(const struct run_source *pixels, struct threads *threads,
                                        struct correlation *correlation, struct error *error);

#endif
