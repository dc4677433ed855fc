/* A pixel source of an image in memory. */
#ifndef MEMORY_SOURCE_H
#define MEMORY_SOURCE_H

#include "input/pixel_source.h"

/* Pixels owned by the caller: pixel (x, y) is pixels[y * row_stride + x]. */
struct memory {
    const uint32_t *pixels;
    int64_t width, row_stride;
};

/* Makes a source of an image; swapped: its values are in the other byte order than this machine's.
 * The source points to *memory, which must not be moved while the source is in use. */
struct pixel_source memory_source(struct memory *memory, int64_t height, bool swapped);

#endif
