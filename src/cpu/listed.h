/* The clip of an image that has been scanned: core sums that always count, and the listed pixels,
 * of which the clip takes away the ends. */
#ifndef LISTED_H
#define LISTED_H

#include "cpu/clip.h"
#include "cpu/order.h"
#include "cpu/scan.h"
#include "listed_ranks.h"

struct listed_set {
    struct clip_set set;
    struct scan_plan plan;
    struct order middle, tails; /* the values of the median bracket, and beyond the core */
    struct listed_ranks ranks;  /* of all, in their order: lower tail, middle, upper tail */
};

/* Takes the lists out of a scan, which loses them. To be cleared, also after an error. */
enum srcfind_status listed_from_scan(struct listed_set *set, struct scan *scan,
                                     struct error *error);
void listed_clear(struct listed_set *set);

/* After a clip: the least and the greatest of the pixels that are left. False where they are
 * pixels of the core, whose values are not known. */
bool listed_extremes(struct listed_set *set, double *min, double *max);

#endif
