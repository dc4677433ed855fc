/* Which pixel has which rank, of an image that has been scanned: shared by every backend.
 *
 * In the order of their values the pixels stand like this, core pixels at the two blocks:
 *
 *   values | core below | values of the median bracket | core above | values
 *
 * so that ranks within the bracket are known. Zeros, which are only counted, lie in one of the
 * three parts. */
#ifndef LISTED_RANKS_H
#define LISTED_RANKS_H

#include "backend/scan_plan.h"

/* Of the listed values in their order, and of what is only counted. */
struct listed_ranks {
    int64_t first, last;               /* those at [first, last) are left */
    int64_t zero;                      /* those before it are negative */
    int64_t median_first, median_last; /* those within the plan's median bracket */
    int64_t n_zero, n_core, n_below;   /* zeros; pixels of the core; those below median_low */
};

enum listed_place { LISTED_UNKNOWN, LISTED_ZERO, LISTED_VALUE };

/* The k-th smallest (from 0) of the pixels that are left: a zero, or the listed value at *i, or
 * unknown. */
EXACT_FUNCTION enum listed_place
listed_locate(const struct listed_ranks *r, const struct scan_plan *plan, int64_t k, int64_t *i) {
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

/* Whether trimming to [low, high] takes none of the core's pixels away. */
EXACT_FUNCTION bool listed_keeps_core(const struct listed_ranks *r, const struct scan_plan *plan,
                                      float low, float high) {
    return r->n_core == 0 || (low <= plan->core_low && high >= plan->core_high);
}

/* Keeps those of the listed values that are also at [first, last), and zeros if 0 is within [low,
 * high]. Returns how many pixels are left. If none is, the clip has ended, and the ranks stay as
 * they were. */
EXACT_FUNCTION int64_t listed_keep(struct listed_ranks *r, int64_t first, int64_t last, float low,
                                   float high) {
    const int64_t n_zero = low <= 0 && 0 <= high ? r->n_zero : 0;
    first = first < r->first ? r->first : first < r->last ? first : r->last;
    last = last > r->last ? r->last : last > first ? last : first;
    const int64_t n = last - first + n_zero + r->n_core;
    if (n > 0) {
        r->first = first;
        r->last = last;
        r->n_zero = n_zero;
    }
    return n;
}

/* The extremes of the pixels that are left, where low and high are those of the listed values that
 * are (anything, if there is none). False where they are pixels of the core, whose values are not
 * known. */
EXACT_FUNCTION bool listed_extremes_of(const struct listed_ranks *r, const struct scan_plan *plan,
                                       float low, float high, double *min, double *max) {
    const bool any = r->first < r->last;
    if (r->n_core > 0 && !(any && low <= plan->core_low && high >= plan->core_high))
        return false;
    *min = !any || (r->n_zero && low > 0) ? 0 : low;
    *max = !any || (r->n_zero && high < 0) ? 0 : high;
    return true;
}

#endif
