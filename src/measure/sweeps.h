/* The fits of islands whose sources are in several groups: each group gets the pixels less the
 * models of the others. */
#ifndef SWEEPS_H
#define SWEEPS_H

#include "common/error.h"
#include "common/threads.h"
#include "measure/island_fit.h"

/* Carries out fits: on the CPU (cpu_fit), or on a device. */
struct fitter {
    enum srcfind_status (*fit)(void *context, const struct fit_pixel *pixels, struct fit_job *jobs,
                               int64_t n, struct threads *threads, struct error *error);
    void *context;
};

/* An island of several parts, and the job of each. */
struct grouped_island {
    const struct island_fit *fit;
    struct fit_job *jobs;
};

/* Fits the parts of n islands: freely until they agree, at most three times, and then once with all
 * steps. Sets the results of their jobs. Errors: memory, and those of the fitter. */
enum srcfind_status sweeps_run(const struct grouped_island *islands, int64_t n,
                               struct fit_pixel *pixels, const struct fitter *fitter,
                               struct threads *threads, struct error *error);

#endif
