/* The mask of a CLEAN deconvolution: the pixels of islands, widened, and without holes. */
#ifndef MASK_H
#define MASK_H

#include "measure/labels.h"

/* Which pixels are in the mask of an image. */
struct mask_shape {
    int64_t width, height; /* of the image */
    int64_t most_label;    /* islands with the labels 1 to this are in it */
    int64_t radius;        /* of the discs, in pixels, that widen it: dx^2 + dy^2 <= radius^2 */
    bool fills_holes;      /* which steps along axes do not reach from the edge of the image */
};

/* Makes the mask of islands, as runs with the label 1 in the order of the file, which neither
 * overlap nor touch: first it is widened, then its holes are filled. Memory goes with the number of
 * runs, not with that of the pixels. Clear the mask, also after a failure. */
bool mask_make(const struct labels *islands, const struct mask_shape *shape, struct labels *mask);

#endif
