/* The clip of a sample, by counts in bins: fine ones in the middle, coarse ones far out. What it
 * predicts is verified afterwards, so that it need not be exact, only fast. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "backend/scan_plan.h"

struct sample_clip {
    struct clip_path path;
    double median, rms;
};

/* Clips n finite values, n < 2^31. False where nothing is left, or what is left is about the same.
 */
bool sample_clip(struct sample_clip *clip, const float *values, int64_t n, double kappa);

#endif
