/* The clip of an image that was scanned by a plan with inliers. The clip keeps all inliers and all
 * pixels of the median bracket, so that their sums are fixed. It removes pixels from the outliers
 * only. */
#ifndef CLIP_PREDICTED_H
#define CLIP_PREDICTED_H

#include "backend/listed_ranks.h"
#include "cpu/clip.h"
#include "cpu/counted.h"
#include "cpu/values.h"

struct predicted_set {
    struct clip_set set;
    const struct scan_plan *plan;
    struct exact_sums inner;            /* of the inliers and the median bracket */
    struct values bracket;              /* of the median bracket */
    struct values outliers, candidates; /* candidates only if the scan keeps them apart */
    struct counted counted[SCAN_PARTS]; /* bracket and outliers, where not all are listed */
    struct listed_ranks ranks; /* of all values in order: lower outliers, bracket, upper outliers */
    float low, high;           /* range of the outliers that are left, both inclusive */
};

/* Makes a set of the values that a scan listed; the scan must outlive the set. The caller clears
 * the set, also after an error. */
enum srcfind_status predicted_from_scan(struct predicted_set *set, const struct scan *scan,
                                        struct threads *threads, struct error *error);
void predicted_clear(struct predicted_set *set);

/* Whether the clip missed values that were only counted, so that it must be repeated after a scan
 * that lists them. */
bool predicted_is_missing(const struct predicted_set *set);

/* After a clip: the least and the greatest of the pixels that are left. False if one of them is an
 * inlier, whose value is not known, or if no value is listed. */
bool predicted_extremes(struct predicted_set *set, double *min, double *max);

#endif
