/* The clip of an image that has been scanned: core sums that always count, and the listed pixels,
 * of which the clip takes away the ends. */
#ifndef LISTED_H
#define LISTED_H

#include "cpu/clip.h"
#include "cpu/scan.h"
#include "cpu/values.h"
#include "listed_ranks.h"

struct listed_set {
    struct clip_set set;
    const struct scan_plan *plan;
    struct exact_sums core;        /* the sums of the core */
    struct values middle, tails;   /* of the median bracket, and beyond the core */
    struct values_sums all_middle; /* of all of the bracket; below: those that are negative */
    struct listed_ranks ranks;     /* of all, in their order: lower tail, middle, upper tail */
    float low, high;               /* what is left lies within, both inclusive */
};

/* Makes the set of a scan, which is to outlive it. To be cleared, also after an error. */
enum srcfind_status listed_from_scan(struct listed_set *set, const struct scan *scan,
                                     struct error *error);
void listed_clear(struct listed_set *set);

/* After a clip: the least and the greatest of the pixels that are left. False where they are
 * pixels of the core, whose values are not known. */
bool listed_extremes(const struct listed_set *set, double *min, double *max);

#endif
