/* A pixel source of the negated image: each value has the other sign. */
#ifndef NEGATED_H
#define NEGATED_H

#include "input/pixel_source.h"

struct negated {
    struct pixel_source stored; /* what the pixels are read from */
    uint32_t sign;              /* the bit of the sign, in the byte order of the source */
};

/* A source of the pixels of `stored`, negated. `negated` and the state of `stored` must outlive the
 * source. */
struct pixel_source negated_source(struct negated *negated, const struct pixel_source *stored);

#endif
