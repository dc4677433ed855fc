/* A pixel source of a part of an image (option trim). */
#ifndef TRIMMED_H
#define TRIMMED_H

#include "input/pixel_source.h"

/* The first pixel of the part in the whole image, from 0, and the width of the part. */
struct trimmed {
    struct pixel_source whole;
    int64_t x, y, width;
};

/* Makes a source of the part of `whole` that begins at pixel (x, y); the part must be in it.
 * `trimmed` and the state of `whole` must outlive the source. A read takes of a packed source the
 * rows that it needs in one piece, since each of them costs as much as all of its tiles, and of
 * other sources the pixels of the part alone. */
struct pixel_source trimmed_source(struct trimmed *trimmed, const struct pixel_source *whole,
                                   int64_t x, int64_t y, int64_t width, int64_t height);

#endif
