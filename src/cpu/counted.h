/* Values of a scan that are too many to list. Most are only counted, in the bins of key_bins.h; a
 * few bins are listed, too. The sums and the ranks of whole bins are known without their values. A
 * round of the clip needs the values of a bin that it cuts, and of the one that has its median:
 * where these are not listed, the bin is missing. The clip then goes on with an estimate, to learn
 * which other bins it needs, and is repeated once another scan has listed them. */
#ifndef COUNTED_H
#define COUNTED_H

#include "cpu/key_bins.h"
#include "cpu/scan.h"
#include "cpu/values.h"

struct counted {
    struct key_bin *bins; /* those of all workers together */
    uint8_t *states; /* enum bin_state of each bin, of the scan: missing ones are noted there */
    bool is_missing; /* a bin was missing */
};

/* Adds up the bins of a part of all workers of a scan, which has bins. False where memory ran out.
 * The caller clears `counted`, also after a failure. */
bool counted_make(struct counted *counted, const struct scan *scan, enum scan_part part);
void counted_clear(struct counted *counted);

/* Adds the values of all bins to sums; n_below: of those < below, which is in no bin with values on
 * both sides of it. */
void counted_sum(const struct counted *counted, float below, struct values_sums *sums);

/* Adds the values within [low, high], both finite, of bins that are not listed to sums; n_below: of
 * those < below, which is in no such bin. */
void counted_trim(struct counted *counted, float low, float high, float below,
                  struct values_sums *sums);

/* Lowers *least and raises *greatest to the extremes of the values within [low, high] of bins that
 * are not listed: if one of them is such a value, its bin is missing. */
void counted_extend(struct counted *counted, float low, float high, float *least, float *greatest);

/* The i-th smallest (from 0) of the values of all bins. listed: those of the bins that are listed.
 */
float counted_at(struct counted *counted, struct values *listed, int64_t i);

/* Has the next scan list the bins that the clip missed. Returns the number of values of all listed
 * bins. */
int64_t counted_list_missing(const struct counted *counted);

#endif
