#include "cpu/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "common/forest.h"
#include "cpu/runs.h"

/* Whether a pixel of a run is above the local noise by the detection threshold. */
static bool has_local_peak(const struct noise_thresholds *t, const struct run *run,
                           const float *values) {
    struct noise_at noise[NOISE_RANGE];
    for (int64_t x = run->x0; x <= run->x1; x += NOISE_RANGE) {
        const int64_t n = run->x1 - x < NOISE_RANGE ? run->x1 - x + 1 : NOISE_RANGE;
        noise_map_row(t->map, run->y, x, n, noise);
        for (int64_t i = 0; i < n; i++)
            if (noise_is_exceeded(noise[i], t->detection, values[x - run->x0 + i]))
                return true;
    }
    return false;
}

static bool has_peak(const struct sweep *s, const struct run *run, const float *values, int64_t n) {
    bool has = false;
    if (s->noise)
        return has_local_peak(s->noise, run, values);
    for (int64_t i = 0; i < n; i++)
        has |= values[i] >= s->peak;
    return has;
}

/* Sets kept at the first run of each component that stays. */
static void mark_kept(const struct sweep *s, const struct run *runs, int64_t n, const float *values,
                      int64_t *parent, bool *kept) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t root = forest_root(parent, i), count = run_length(&runs[i]);
        kept[root] = kept[root] || runs[i].y - 1 <= s->first || runs[i].y + 1 >= s->last ||
                     has_peak(s, &runs[i], values, count);
        values += count;
    }
}

/* Moves the runs of kept components, and the values of their pixels, to the front. */
static void compact(struct run *runs, int64_t *n, float *values, int64_t *n_values, int64_t *parent,
                    const bool *kept) {
    int64_t n_kept = 0, to = 0, from = 0;
    for (int64_t i = 0; i < *n; i++) {
        const struct run run = runs[i];
        const int64_t count = run_length(&run);
        if (kept[forest_root(parent, i)]) {
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
