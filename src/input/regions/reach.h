/* How far a part of an image reaches on the sky, and what lies beyond. */
#ifndef REACH_H
#define REACH_H

#include "input/regions/drawn.h"

struct reach {
    struct direction centre;
    double angle; /* radians: no pixel of the part is farther away from the centre; or infinite */
    double cosine, sine; /* of the angle */
};

/* The reach of directions, with a margin for those between them. NaN: infinite. A projection that
 * is torn between them has them far apart. */
struct reach reach_of_directions(const struct direction *centre, const struct direction *directions,
                                 int n);

/* The reach of parts of an image together. */
struct reach reach_of_parts(const struct reach *parts, int64_t n);

enum reach_side { REACH_INSIDE, REACH_OUTSIDE, REACH_UNKNOWN };

/* On which side of a limit of distances from `centre` all of it is. */
enum reach_side reach_side(const struct reach *reach, const struct direction *centre,
                           const struct drawn_limit *limit);

#endif
