/* The clip of an image without a usable prediction: all pixels are listed and sorted. */
#ifndef CLIP_SORTED_H
#define CLIP_SORTED_H

#include "cpu/clip.h"
#include "cpu/scan.h"
#include "cpu/sorted_values.h"

/* Up to this number of pixels, to sort them is faster than to make a histogram. Takes 8 bytes a
 * pixel. */
enum { SORTED_MOST = 1 << 24 };

struct sorted_set {
    struct clip_set set;
    struct sorted_values pixels;
};

/* Makes a set of the values of the scan's bracket lists, and frees the scan's lists. The caller
 * clears the set, also after an error. */
enum srcfind_status sorted_from_scan(struct sorted_set *set, struct scan *scan,
                                     struct error *error);

/* Makes a set of n pixels from their keys, and takes ownership of these, which come from malloc.
 * The caller clears the set, also after a failure. */
bool sorted_from_keys(struct sorted_set *set, uint32_t *keys, int64_t n);
void sorted_set_clear(struct sorted_set *set);

/* The least and the greatest of the pixels that are left; at least one must be left. */
void sorted_extremes(const struct sorted_set *set, double *min, double *max);

#endif
