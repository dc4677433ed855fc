/* A search: the stages in their order, from pixels to the sources of a catalogue. */
#ifndef SEARCH_H
#define SEARCH_H

#include "api/finder.h"
#include "backend/backend.h"
#include "output/result.h"

/* The pixels: either `source` on the host or `on_device`; the other one is NULL. */
struct search_input {
    const struct pixel_source *source;
    const struct device_pixels *on_device;
    const struct image *image;
};

/* Finds the sources of an image, whose metadata the catalogue has. The caller destroys the
 * catalogue, also after an error. */
enum srcfind_status search_image(struct srcfind *finder, const struct search_input *input,
                                 struct result *catalogue);

#endif
