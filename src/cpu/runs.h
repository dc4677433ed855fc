/* Joins runs of pixels that touch, by union-find. Runs are in the order of their pixels. parent[i]
 * is the index of a run of the same component, at most i. The first run of a component is its own
 * parent: the root. */
#ifndef RUNS_H
#define RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/segments.h"

/* The greatest gap in x between touching runs of neighbouring rows: 0 for 4-connected pixels, 1 for
 * 8-connected ones, which may touch at a corner. */
static inline int runs_reach(int connectivity) {
    return connectivity == 8 ? 1 : 0;
}

/* Whether two runs are one run of pixels that was cut at the end of a chunk, or of a tile. */
static inline bool runs_are_one(const struct run *left, const struct run *right) {
    return left->y == right->y && left->x1 + (int64_t)1 == right->x0;
}

/* Sets the runs of the segments, whose number of islands is set: groups n runs, in the order of the
 * image, by island, and joins runs that were cut. get sets *run to run i, and returns its island;
 * -1: the island does not count. */
static inline bool runs_group(int64_t (*get)(const void *context, int64_t i, struct run *run),
                              const void *context, int64_t n, struct segments *out) {
    int64_t *first = out->first_run = calloc((size_t)out->n + 2, sizeof *first);
    struct run run, before = {-1, 0, 0};
    for (int64_t i = 0; first && i < n; i++, before = run) {
        const int64_t island = get(context, i, &run);
        if (island >= 0 && !runs_are_one(&before, &run))
            first[island + 2]++;
    }
    for (int64_t k = 0; first && k < out->n; k++)
        first[k + 2] += first[k + 1];
    out->runs = first ? malloc((size_t)first[out->n + 1] * sizeof *out->runs + 1) : NULL;
    before.y = -1;
    for (int64_t i = 0; out->runs && i < n; i++, before = run) {
        const int64_t island = get(context, i, &run);
        if (island < 0)
            continue;
        int64_t *end = &first[island + 1]; /* becomes where the island's runs end */
        if (runs_are_one(&before, &run))
            out->runs[*end - 1].x1 = run.x1;
        else
            out->runs[(*end)++] = run;
    }
    return out->runs;
}

/* Finds the components of the runs [first, end), and sets the parents of these runs. */
void runs_link(const struct run *runs, int64_t *parent, int64_t first, int64_t end, int reach);

/* Joins the components of the runs [border, end) with those of the runs before them; runs_link must
 * have set the parents of both. The runs on both sides of the border may be of the same row. */
void runs_link_across(const struct run *runs, int64_t *parent, int64_t border, int64_t end,
                      int reach);

#endif
