/* A smoothed image in the plainest way, to compare all backends with. */
#ifndef SMOOTH_ORACLE_H
#define SMOOTH_ORACLE_H

#include "measure/smooth.h"
#include "pictures.h"

/* The samples of a picture less Gaussians, each from all pixels that its kernel reaches; to be
 * freed.
 */
float *smooth_plainly(const struct picture *picture, const struct smoothing *smoothing,
                      const struct gaussian *gaussians, int n);

/* A Gaussian of any shape, in an image of this shape or beyond its edges. */
struct gaussian random_gaussian(struct random *random, int width, int height);

/* A smoothing of an image of this shape: narrow and wide kernels, fine and coarse samples. */
struct smoothing random_smoothing(struct random *random, int width, int height);

/* Asserts that two arrays have the same values, and blanks at the same places; returns how many are
 * not blank. */
int64_t assert_same_samples(const float *a, const float *b, int64_t n);

#endif
