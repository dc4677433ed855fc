/* The result of detection: islands with their moments and, if detection.keep_runs, their runs. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/island.h"

/* Pixels x0 ... x1 of row y. */
struct run {
    int32_t y, x0, x1;
};

/* The number of pixels of a run. */
static inline int64_t run_length(const struct run *run) {
    return (int64_t)run->x1 - run->x0 + 1;
}

/* Runs, and where their pixels go: those of run i to first[i] and so on, n_pixels in all. */
struct gathered_runs {
    const struct run *runs;
    const int64_t *first;
    int64_t n, n_pixels;
};

/* Runs are grouped by island, and within an island in the order of the pixels. Island i has the
 * runs first_run[i] ... first_run[i + 1] - 1. */
struct segments {
    int64_t n;              /* islands */
    struct island *islands; /* in the order of their first pixels. Where the user gives maps of the
                               noise, they have neither peak nor moments: these need the maps */
    struct run *runs;       /* NULL without keep_runs, like first_run */
    int64_t *first_run;     /* n + 1 */
};

/* Keeps the first n islands with their runs. Frees the memory of the others; where that fails, it
 * stays until the end. */
static inline void segments_keep(struct segments *s, int64_t n) {
    void *islands = realloc(s->islands, ((size_t)n + 1) * sizeof *s->islands);
    if (islands)
        s->islands = (struct island *)islands;
    void *runs = s->runs ? realloc(s->runs, ((size_t)s->first_run[n] + 1) * sizeof *s->runs) : NULL;
    if (runs)
        s->runs = (struct run *)runs;
    s->n = n;
}

/* Frees the arrays of s. */
static inline void segments_clear(struct segments *s) {
    free(s->islands);
    free(s->runs);
    free(s->first_run);
    memset(s, 0, sizeof *s);
}

#endif
