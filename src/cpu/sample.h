/* The clip of a sample, by counts in bins, which are fine near the median and coarse far from it.
 * It need not be exact, only fast: what it predicts is verified later. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "backend/scan_plan.h"

enum { SAMPLE_ROUNDS = 32 };

/* The median and the bounds of a round; the standard error of the distance of a bound from the
 * median. */
struct sample_round {
    double median, low, high, error;
};

struct sample_clip {
    struct clip_path path;
    double median, rms, median_error; /* of the last round; the latter is a standard error */
    int n_rounds;                     /* the first SAMPLE_ROUNDS are kept */
    struct sample_round round[SAMPLE_ROUNDS];
};

/* Clips n finite values, n < 2^31. False if no value is left, or if the values that are left are
 * nearly equal. */
bool sample_clip(struct sample_clip *clip, const float *values, int64_t n, double kappa);

#endif
