/* A pixel source of an image in memory. */
#ifndef MEMORY_H
#define MEMORY_H

#include "input/pixel_source.h"

/* Pixels that the caller keeps: at pixels[y * row_stride + x]. */
struct memory {
    const uint32_t *pixels;
    int64_t width, row_stride;
};

/* The memory must stay where it is as long as the source is used. */
struct pixel_source memory_source(struct memory *memory, int64_t height, bool swapped);

#endif
