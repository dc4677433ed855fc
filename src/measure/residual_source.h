/* The pixels of an image less a sum of Gaussians. */
#ifndef RESIDUAL_SOURCE_H
#define RESIDUAL_SOURCE_H

#include "input/pixel_source.h"
#include "measure/model.h"

/* The source from which the pixels are read. */
struct residual {
    struct pixel_source stored;
    const struct model *model;
};

/* A source of the pixels of `stored` less the model, whose box has the shape of the image; each is
 * rounded once to float32, and blank ones stay blank. `residual`, the model and the state of
 * `stored` must outlive the source. */
struct pixel_source residual_source(struct residual *residual, const struct pixel_source *stored,
                                    const struct model *model);

#endif
