/* The clip of pixels that have been listed whole, of which no sample told what to leave out. */
#ifndef WHOLE_H
#define WHOLE_H

#include "cpu/clip.h"
#include "cpu/scan.h"
#include "cpu/sorted_values.h"

/* So few pixels are sorted sooner than a histogram is made; in 8 bytes each. */
enum { WHOLE_MOST = 1 << 24 };

struct whole_set {
    struct clip_set set;
    struct sorted pixels;
};

/* Takes the middle lists of a scan, and gives its memory back. To be cleared, also after an error.
 */
enum srcfind_status whole_from_scan(struct whole_set *set, struct scan *scan, struct error *error);
void whole_clear(struct whole_set *set);

/* The least and the greatest of the pixels that are left, of which there is one at least. */
void whole_extremes(const struct whole_set *set, double *min, double *max);

#endif
