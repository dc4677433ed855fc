/* The ranks of the pixels of an image after a scan; shared by all backends.
 *
 * The pixels in ascending order:
 *
 *   values | inliers below | values of the median bracket | inliers above | values
 *
 * Values are listed and inliers are counted, so that all ranks within the bracket are known. Zeros
 * are only counted; they belong to one of the three ranges of values. */
#ifndef LISTED_RANKS_H
#define LISTED_RANKS_H

#include "backend/scan_plan.h"

/* Indices among the listed values in ascending order, and numbers of pixels that are only counted.
 */
struct listed_ranks {
    int64_t first, last;                /* the values at [first, last) are left */
    int64_t zero;                       /* the values before this index are negative */
    int64_t median_first, median_last;  /* the values within the plan's median bracket */
    int64_t n_zero, n_inliers, n_below; /* zeros; inliers; inliers below median_low */
};

enum listed_kind { LISTED_UNKNOWN, LISTED_ZERO, LISTED_VALUE };

/* Finds the k-th smallest (from 0) of the pixels that are left: a zero, or the listed value at
 * index *i, or unknown, if it is not within the median bracket. */
EXACT_FUNCTION enum listed_kind ranks_locate(const struct listed_ranks *r,
                                             const struct scan_plan *plan, int64_t k, int64_t *i) {
    const bool zero_in = 0 >= plan->median_low && 0 <= plan->median_high;
    const int64_t first = r->median_first > r->first ? r->median_first : r->first;
    const int64_t last = r->median_last < r->last ? r->median_last : r->last;
    const int64_t zeros_before = 0 < plan->median_low ? r->n_zero : 0;
    const int64_t rank = k - (first - r->first + r->n_below + zeros_before);
    const int64_t negative = zero_in ? r->zero - first : 0, zeros = zero_in ? r->n_zero : 0;
    if (rank < 0 || rank >= last - first + zeros)
        return LISTED_UNKNOWN;
    if (zero_in && rank >= negative && rank < negative + zeros)
        return LISTED_ZERO;
    *i = zero_in && rank >= negative ? first + rank - zeros : first + rank;
    return LISTED_VALUE;
}

/* Whether trimming to [low, high] removes no inlier. */
EXACT_FUNCTION bool ranks_keep_inliers(const struct listed_ranks *r, const struct scan_plan *plan,
                                       float low, float high) {
    return r->n_inliers == 0 || (low <= plan->inlier_low && high >= plan->inlier_high);
}

/* Keeps those of the listed values that are at [first, last), and the zeros if 0 is within [low,
 * high]. Returns the number of pixels that are left. If none is left, the clip has ended, and the
 * ranks do not change. */
EXACT_FUNCTION int64_t ranks_keep(struct listed_ranks *r, int64_t first, int64_t last, float low,
                                  float high) {
    const int64_t n_zero = low <= 0 && 0 <= high ? r->n_zero : 0;
    first = first < r->first ? r->first : first < r->last ? first : r->last;
    last = last > r->last ? r->last : last > first ? last : first;
    const int64_t n = last - first + n_zero + r->n_inliers;
    if (n > 0) {
        r->first = first;
        r->last = last;
        r->n_zero = n_zero;
    }
    return n;
}

/* The extremes of the pixels that are left. low and high are the extremes of the listed values that
 * are left (any numbers, if none is). False if an extreme is an inlier, whose value is not known.
 */
EXACT_FUNCTION bool ranks_extremes(const struct listed_ranks *r, const struct scan_plan *plan,
                                   float low, float high, double *min, double *max) {
    const bool any = r->first < r->last;
    if (r->n_inliers > 0 && !(any && low <= plan->inlier_low && high >= plan->inlier_high))
        return false;
    *min = !any || (r->n_zero && low > 0) ? 0 : low;
    *max = !any || (r->n_zero && high < 0) ? 0 : high;
    return true;
}

#endif
