/* Removes, during the scan, candidates that cannot belong to a source, so that the candidates fit
 * in memory however low the island threshold is. */
#ifndef SWEEP_H
#define SWEEP_H

#include "backend/noise_map.h"
#include "backend/segments.h"

/* A range of rows, all of whose runs are known. */
struct sweep {
    float peak;    /* islands without a pixel >= this are removed */
    int reach;     /* see runs_reach */
    int32_t first; /* runs of rows <= first + 1 may touch runs that precede the range */
    int32_t last;  /* runs of rows >= last - 1 may touch runs that follow the range */
    const struct noise_thresholds *noise; /* if not NULL, it tells in place of `peak` */
};

/* Removes the runs of islands that have no pixel >= peak and cannot touch runs outside the range.
 * values has the values of all pixels of the runs, one run after the other. Updates *n and
 * *n_values. After a failure runs and values are unchanged. */
bool sweep_runs(const struct sweep *sweep, struct run *runs, int64_t *n, float *values,
                int64_t *n_values);

#endif
