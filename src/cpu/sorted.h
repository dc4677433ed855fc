/* The clip of an image that has been listed whole, of which no sample told what to leave out. */
#ifndef SORTED_H
#define SORTED_H

#include "cpu/clip.h"
#include "cpu/scan.h"

struct sorted_set {
    struct clip_set set;
    float *values;       /* of all pixels, in their order */
    int64_t first, last; /* those at [first, last) are left */
};

/* Takes the lists of a scan without a core. To be cleared, also after an error. */
enum srcfind_status sorted_from_scan(struct sorted_set *set, const struct scan *scan,
                                     struct error *error);
void sorted_clear(struct sorted_set *set);

/* The least and the greatest of the pixels that are left. */
void sorted_extremes(const struct sorted_set *set, double *min, double *max);

#endif
