/* Groups of places that are fitted together. */
#ifndef PLACE_GROUPS_H
#define PLACE_GROUPS_H

#include "measure/place.h"

enum { PLACES_A_GROUP = 64 };

/* Members and others are indices of places, both in rising order. */
struct place_group {
    int32_t n, n_others;
    const int64_t *members;
    /* Of a part of a larger cluster: up to 512 places of other parts that reach its pixels; else
     * none. */
    const int64_t *others;
    bool is_part;
};

/* Parts of a cluster follow one another. Each place is a member of one group, unless it has a twin
 * before it. */
struct place_groups {
    struct place_group *groups;
    int64_t n;
    int64_t *members, *others, n_others, capacity;
};

/* Makes the groups of n places, which are sorted by y. Places belong to one cluster if they are
 * closer than the sum of their FWHMs along the line between them, which is two beams for points;
 * this is transitive. A cluster of more than PLACES_A_GROUP places is halved until its parts are
 * small enough. A place that is left out is a group alone. frame: the beam is its unit circle;
 * NULL: each place is a group. Clear the groups, also after a failure. */
bool place_groups_make(const struct place *places, int64_t n, const struct fit_frame *frame,
                       struct place_groups *groups);
void place_groups_clear(struct place_groups *groups);

#endif
