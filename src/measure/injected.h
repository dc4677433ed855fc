/* An image to which Gaussians are added. */
#ifndef INJECTED_H
#define INJECTED_H

#include "input/pixel_source.h"
#include "measure/model.h"

struct injected {
    struct pixel_source stored; /* what the pixels are read from */
    struct model model;
};

/* Makes a source of the pixels of `stored`, to each of which the sum of n Gaussians is added, in
 * double. Blank pixels stay so, and a pixel that would overflow stays as it is. The Gaussians,
 * `injected` and the state of `stored` must outlive the source. The caller clears `injected`, also
 * after a failure. */
bool injected_source(struct injected *injected, const struct pixel_source *stored,
                     const struct gaussian *gaussians, int64_t n, struct pixel_source *source);
void injected_clear(struct injected *injected);

#endif
