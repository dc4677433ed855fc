/* Groups of an island's Gaussians that overlap so much that they are one source. */
#ifndef GROUP_H
#define GROUP_H

#include "common/arena.h"
#include "measure/model.h"

/* When two Gaussians are one source. */
struct group_rule {
    double tolerance; /* of distances; 0: no two are; INFINITY: all are */
    double drop;      /* of the model between them, in its unit */
};

/* Sets group[k] to the lowest number of a Gaussian of the same source as Gaussian k. sum: the model
 * of all n.
 *
 * Two Gaussians belong together where, at 21 points of the line between their centres, the sum of
 * all never falls more than rule.drop below the lower one of both ends, and their distance is at
 * most half of the sum of their FWHMs along that line, times the tolerance if that is above 1; or
 * where the sum only rises, or only falls, from one to the other, and they reach each other. The
 * groups are what such pairs connect. (PyBDSF's rule, bdsf/gaul2srl.py.) Arrays are taken from the
 * arena. */
bool group_gaussians(const struct model *sum, int64_t n, const struct group_rule *rule,
                     struct arena *arena, int32_t *group);

#endif
