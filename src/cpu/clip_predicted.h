/* The clip of an image that has been scanned by a plan with a core: sums of the core and the median
 * bracket, which always count, and the tails beyond, of which the clip takes away the ends. */
#ifndef LISTED_H
#define LISTED_H

#include "cpu/clip.h"
#include "cpu/scan.h"
#include "cpu/values.h"
#include "backend/listed_ranks.h"

struct listed_set {
    struct clip_set set;
    const struct scan_plan *plan;
    struct exact_sums inner;         /* of the core and the median bracket */
    struct values middle;            /* of the median bracket */
    struct values tails, candidates; /* beyond the core; candidates that are apart */
    struct listed_ranks ranks;       /* of all, in their order: lower tail, middle, upper tail */
    float low, high;                 /* the tails that are left lie within, both inclusive */
};

/* Makes the set of a scan, which is to outlive it. To be cleared, also after an error. */
enum srcfind_status listed_from_scan(struct listed_set *set, const struct scan *scan,
                                     struct error *error);
void listed_clear(struct listed_set *set);

/* After a clip: the least and the greatest of the pixels that are left. False where they are
 * pixels of the core, whose values are not known, or none is listed. */
bool listed_extremes(const struct listed_set *set, double *min, double *max);

#endif
