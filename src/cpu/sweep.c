#include "cpu/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/runs.h"

static bool has_peak(const float *values, int64_t n, float peak) {
    bool has = false;
    for (int64_t i = 0; i < n; i++)
        has |= values[i] >= peak;
    return has;
}

/* Sets kept at the first run of each component that stays. */
static void mark_kept(const struct sweep *s, const struct run *runs, int64_t n, const float *values,
                      int64_t *parent, bool *kept) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t root = runs_root(parent, i), count = (int64_t)runs[i].x1 - runs[i].x0 + 1;
        kept[root] = kept[root] || runs[i].y - 1 <= s->first || runs[i].y + 1 >= s->last ||
                     has_peak(values, count, s->peak);
        values += count;
    }
}

/* Moves the runs of kept components, and their values, to the front. */
static void compact(struct run *runs, int64_t *n, float *values, int64_t *n_values, int64_t *parent,
                    const bool *kept) {
    int64_t n_kept = 0, to = 0, from = 0;
    for (int64_t i = 0; i < *n; i++) {
        const struct run run = runs[i];
        const int64_t count = (int64_t)run.x1 - run.x0 + 1;
        if (kept[runs_root(parent, i)]) {
            memmove(values + to, values + from, (size_t)count * sizeof *values);
            runs[n_kept++] = run;
            to += count;
        }
        from += count;
    }
    *n = n_kept;
    *n_values = to;
}

bool sweep_runs(const struct sweep *sweep, struct run *runs, int64_t *n, float *values,
                int64_t *n_values) {
    int64_t *parent = malloc((size_t)*n * sizeof *parent + 1);
    bool *kept = calloc((size_t)*n + 1, sizeof *kept);
    const bool ok = parent && kept;
    if (ok) {
        runs_link(runs, parent, 0, *n, sweep->reach);
        mark_kept(sweep, runs, *n, values, parent, kept);
        compact(runs, n, values, n_values, parent, kept);
    }
    free(parent);
    free(kept);
    return ok;
}
