/* The groups in which the sources of an island are fitted, if they are too many for one fit. */
#ifndef FIT_PARTS_H
#define FIT_PARTS_H

#include "measure/island_fit.h"

/* How the sources of an island are fitted. The work is that of the normal equations, and grows with
 * the squares of a group's sources and with the iterations. In crowded islands, of nebulae and of
 * noise above a wrong threshold, fits do not converge, and would take milliseconds a source: there
 * more iterations describe the island no better. The same holds for second fits (flux_check.h):
 * with groups of 4 they take half as long, and their residuals are 7% higher. */
struct fit_effort {
    int64_t group; /* most sources that are fitted together */
    struct fit_limits limits;
};

struct fit_effort fit_parts_effort(const struct island_fit *fit);

/* Divides the sources and pixels of a fit into parts: halves them along the longer side until all
 * parts are small enough, and gives parts that touch different colours. The fit has its pixels, and
 * room for the others; the parts are in the arena. False where memory ran out. */
bool fit_parts_make(struct island_fit *fit, struct arena *arena);

#endif
