#include "cpu/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/runs.h"

/* Whether a pixel of a run is above the local noise by the detection threshold. */
static bool has_local_peak(const struct noise_thresholds *t, const struct run *run,
                           const float *values, const struct noise_given *given) {
    struct noise_at noise[NOISE_RANGE];
    for (int64_t x = run->x0; x <= run->x1; x += NOISE_RANGE) {
        const int64_t n = run->x1 - x < NOISE_RANGE ? run->x1 - x + 1 : NOISE_RANGE;
        noise_row(t->map, run->y, x, n, given ? given + (x - run->x0) : NULL, noise);
        for (int64_t i = 0; i < n; i++)
            if (noise_is_below(noise[i], t->detection, values[x - run->x0 + i]))
                return true;
    }
    return false;
}

static bool has_peak(const struct sweep *s, const struct run *run, const float *values,
                     const struct noise_given *given, int64_t n) {
    bool has = false;
    if (s->noise)
        return has_local_peak(s->noise, run, values, given);
    for (int64_t i = 0; i < n; i++)
        has |= values[i] >= s->peak;
    return has;
}

/* Sets kept at the first run of each component that stays. */
static void mark_kept(const struct sweep *s, const struct run *runs, int64_t n, const float *values,
                      const struct noise_given *given, int64_t *parent, bool *kept) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t root = runs_root(parent, i), count = (int64_t)runs[i].x1 - runs[i].x0 + 1;
        kept[root] = kept[root] || runs[i].y - 1 <= s->first || runs[i].y + 1 >= s->last ||
                     has_peak(s, &runs[i], values, given, count);
        values += count;
        given = given ? given + count : NULL;
    }
}

/* Moves the runs of kept components, and what belongs to their pixels, to the front. */
static void compact(struct run *runs, int64_t *n, float *values, struct noise_given *given,
                    int64_t *n_values, int64_t *parent, const bool *kept) {
    int64_t n_kept = 0, to = 0, from = 0;
    for (int64_t i = 0; i < *n; i++) {
        const struct run run = runs[i];
        const int64_t count = (int64_t)run.x1 - run.x0 + 1;
        if (kept[runs_root(parent, i)]) {
            memmove(values + to, values + from, (size_t)count * sizeof *values);
            if (given)
                memmove(given + to, given + from, (size_t)count * sizeof *given);
            runs[n_kept++] = run;
            to += count;
        }
        from += count;
    }
    *n = n_kept;
    *n_values = to;
}

bool sweep_runs(const struct sweep *sweep, struct run *runs, int64_t *n, float *values,
                struct noise_given *given, int64_t *n_values) {
    int64_t *parent = malloc((size_t)*n * sizeof *parent + 1);
    bool *kept = calloc((size_t)*n + 1, sizeof *kept);
    const bool ok = parent && kept;
    if (ok) {
        runs_link(runs, parent, 0, *n, sweep->reach);
        mark_kept(sweep, runs, *n, values, given, parent, kept);
        compact(runs, n, values, given, n_values, parent, kept);
    }
    free(parent);
    free(kept);
    return ok;
}
