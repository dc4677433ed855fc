/* The option negative: a second search, of the negated image. The clip, the interpolation of local
 * noise and every rounding are symmetric, so that it has the background of the first search with
 * the other sign, and the same rms. */
#ifndef NEGATIVE_H
#define NEGATIVE_H

#include "api/sources.h"
#include "backend/backend.h"
#include "input/pixel_change.h"
#include "output/result.h"

/* The negated image, and the detection in it. Not to be copied: the members point to each other. */
struct negated_image {
    struct pixel_source source;
    struct detection detection;
    struct changed pixels, background; /* of the source, and of a map of the background */
    struct pixel_source background_source;
};

/* The source and the maps of `detection` must outlive the negated image. The source is NULL where
 * the pixels are on a device. */
void negative_make(struct negated_image *negative, const struct pixel_source *source,
                   const struct detection *detection);

/* Adds the sources of the negated image to those of the image, after them, as sources of the image
 * itself: `negative` is turned back. False where memory ran out. */
bool negative_add(struct sources *sources, struct sources *negative);

#endif
