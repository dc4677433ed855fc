/* The average of planes of a cube (option plane: mean), which is searched as an image. */
#ifndef PLANE_MEAN_H
#define PLANE_MEAN_H

#include "common/threads.h"
#include "input/image.h"
#include "input/memory_source.h"

struct plane_mean {
    uint32_t *pixels; /* owned; NULL: there is none */
    struct memory memory;
};

/* Opens an image and averages the planes that the options choose, with weights 1 / rms^2 by the
 * clip of each plane. A pixel that is blank in a plane, and a plane without noise, are left out.
 * The source of the image becomes the average; its metadata are those of the plane nearest to the
 * weighted mean of the planes, with the weighted mean of their frequencies. The beams of the planes
 * may differ by 2%. Takes 20 bytes for each pixel of a plane, and 4 from then on. Must not be moved
 * while the source is in use; clear it also after an error. */
enum srcfind_status plane_mean_open(struct plane_mean *mean, struct image *image, const char *path,
                                    const struct options *options, struct threads *threads,
                                    struct srcfind_image *metadata, struct error *error);
void plane_mean_clear(struct plane_mean *mean);

#endif
