/* What the public calls share: a finder, and what its options mean to the parts of the library. */
#ifndef FINDER_H
#define FINDER_H

#include "gpu/pool.h"

struct srcfind {
    struct srcfind_options options;
    struct gpu *gpu; /* NULL where only the CPU is to be used; shared by finders made together */
    struct error error;
};

/* Whether a device was asked for, and not the CPU or whatever is there. */
bool finder_wants_gpu(const struct srcfind_options *options);

struct detection finder_detection(const struct srcfind_options *options);

#endif
