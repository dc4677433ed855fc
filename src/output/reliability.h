/* The share of sources that are real, by S/N: symmetric noise makes as many negative sources as
 * false positive ones. */
#ifndef RELIABILITY_H
#define RELIABILITY_H

#include "output/result.h"

enum { RELIABILITY_BINS = 8 };

/* Sources with low <= S/N < high. */
struct reliability_bin {
    double low, high; /* high is infinite in the last bin */
    int64_t positive, negative;
    double reliability; /* 1 - negative / positive; NaN without a positive source */
    int64_t artefacts, negative_artefacts; /* sources with this flag, which are not counted above */
};

/* Counts the sources of a result with the option negative, by |Pix_SNR| or, without a fit,
 * |SNR|.
 */
void reliability_count(const struct result *result, struct reliability_bin bins[RELIABILITY_BINS]);

#endif
