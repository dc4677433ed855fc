/* The clip of an image that has been listed whole, of which no sample told what to leave out. */
#ifndef WHOLE_H
#define WHOLE_H

#include "cpu/clip.h"
#include "cpu/scan.h"
#include "cpu/sorted.h"

struct whole_set {
    struct clip_set set;
    struct sorted pixels;
};

/* Takes the lists of a scan without a core. To be cleared, also after an error. */
enum srcfind_status whole_from_scan(struct whole_set *set, const struct scan *scan,
                                    struct error *error);
void whole_clear(struct whole_set *set);

/* The least and the greatest of the pixels that are left, of which there is one at least. */
void whole_extremes(const struct whole_set *set, double *min, double *max);

#endif
