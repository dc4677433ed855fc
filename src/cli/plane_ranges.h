/* Planes of --plane that are searched as images of their own. */
#ifndef PLANE_RANGES_H
#define PLANE_RANGES_H

#include "options/options.h"

struct plane_range {
    int64_t first, last; /* from 1; last is INT64_MAX for all */
};

/* What the option gives: a range of each further axis, or all planes. */
struct plane_ranges {
    int n; /* 0: no ranges are given */
    bool is_all;
    struct plane_range axis[SRCFIND_MAX_AXES];
};

/* The planes of an image, as many as the product of the ranges. */
struct image_planes {
    int64_t n, n_in_file;
    int n_axes; /* axes 3, 4, ... up to the last one that is longer than 1 */
    struct plane_range axis[SRCFIND_MAX_AXES];
    int digits[SRCFIND_MAX_AXES]; /* of the highest plane of each axis in the file */
};

/* Reads the value of the option: of each axis a number, A-B or `all`. False if the text is invalid.
 */
bool plane_ranges_parse(const char *text, struct plane_ranges *ranges);

/* Finds the planes of an image; reads the header of its file alone. options: with the HDU. */
enum srcfind_status plane_ranges_find(const struct plane_ranges *ranges, const char *path,
                                      const char *hdu, struct image_planes *planes,
                                      struct error *error);

/* Plane i, from 0, in the order of the file. Its option ends with the last axis that is longer than
 * 1. */
struct plane_option image_planes_get(const struct image_planes *planes, int64_t i);

#endif
