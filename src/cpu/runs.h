/* Joins runs of pixels that touch, by union-find. Runs are in the order of their pixels. parent[i]
 * is the index of a run of the same component, at most i. The first run of a component is its own
 * parent: the root. */
#ifndef RUNS_H
#define RUNS_H

#include <stdint.h>

#include "backend/segments.h"

/* The greatest gap in x between touching runs of neighbouring rows: 0 for 4-connected pixels, 1 for
 * 8-connected ones, which may touch at a corner. */
static inline int runs_reach(int connectivity) {
    return connectivity == 8 ? 1 : 0;
}

/* The first run of the component of run i. Shortens the path to it (path halving). */
static inline int64_t runs_root(int64_t *parent, int64_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Finds the components of the runs [first, end), and sets the parents of these runs. */
void runs_link(const struct run *runs, int64_t *parent, int64_t first, int64_t end, int reach);

/* Joins the components of the runs [border, end) with those of the runs before them; runs_link must
 * have set the parents of both. The runs on both sides of the border may be of the same row. */
void runs_link_across(const struct run *runs, int64_t *parent, int64_t border, int64_t end,
                      int reach);

#endif
