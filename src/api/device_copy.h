/* A copy of pixels that are on a device, for stages that run on the host. */
#ifndef DEVICE_COPY_H
#define DEVICE_COPY_H

#include "gpu/pool.h"
#include "input/blanked.h"
#include "input/memory_source.h"
#include "input/negated.h"

/* Not to be moved: the members point to each other. */
struct device_copy {
    float *values;
    struct memory memory;
    struct blanked blanked;
    struct negated negated;
    struct pixel_source source; /* with the changes that were asked for */
};

/* Copies the pixels, which a search has read already. Clear the copy also after an error. */
enum srcfind_status device_copy_make(struct device_copy *copy, struct gpu *gpu,
                                     const struct device_pixels *pixels, struct error *error);
void device_copy_clear(struct device_copy *copy);

#endif
