/* An image whose pixels are blank where those of another one are. */
#ifndef BLANKED_H
#define BLANKED_H

#include <stdbool.h>

#include "input/pixel_source.h"

struct blanked {
    struct pixel_source source, by;
};

/* The pixels of `source`, NaN where those of `by`, which has the same shape, are not finite. Chunks
 * are those of `by`, which must suit both. `blanked` must not be moved. */
struct pixel_source blanked_source(struct blanked *blanked, const struct pixel_source *source,
                                   const struct pixel_source *by);

/* Makes n pixels `blank` where `values`, which may be swapped, are not finite. */
void blank_where_not_finite(const uint32_t *values, bool swapped, int64_t n, uint32_t blank,
                            uint32_t *pixels);

#endif
