/* A pixel source in which pixels of one value are blank, as the zeros of a padded mosaic. */
#ifndef BLANKED_H
#define BLANKED_H

#include "input/pixel_source.h"

struct blanked {
    struct pixel_source stored; /* what the pixels are read from */
    uint32_t value, other;      /* bits that become blank, in the byte order of the source */
    uint32_t blank;
};

/* A source of the pixels of `stored`, of which those equal to the float32 nearest to value are NaN;
 * -0 equals 0. `blanked` and the state of `stored` must outlive the source. */
struct pixel_source blanked_source(struct blanked *blanked, const struct pixel_source *stored,
                                   double value);

#endif
