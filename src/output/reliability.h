/* How many of the sources are real, by their S/N: noise makes as many negative ones as false
 * positive ones, if it is symmetric. */
#ifndef RELIABILITY_H
#define RELIABILITY_H

#include "output/result.h"

enum { RELIABILITY_BINS = 8 };

/* Sources with low <= S/N < high. */
struct reliability_bin {
    double low, high; /* infinite: there is no upper end */
    int64_t positive, negative;
    double reliability; /* 1 - negative / positive; NaN without a positive one */
};

/* Counts the sources of a result with the option negative, by |Pix_SNR| or, without a fit,
 * |SNR|.
 */
void reliability_count(const struct result *result, struct reliability_bin bins[RELIABILITY_BINS]);

#endif
