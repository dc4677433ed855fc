/* How jobs are divided among threads: share k has the jobs k, k + n_shares and so on of the order
 * (fit_order.h), and thus at most one of the most costly jobs. */
#include "cpu/fit.h"

#include <stdlib.h>

#include "cpu/fit_order.h"
#include "cpu/variants.h"

enum { JOBS_A_SHARE = 16, SHARES_A_THREAD = 4 }; /* most jobs that a thread takes at a time */

struct fit_shares {
    const struct fit_pixel *pixels;
    struct fit_job *jobs;
    struct fit_order order;
    int64_t n_shares;
    fit_kernel *kernel;
};

static enum srcfind_status fit_share(void *context, int share, struct error *error) {
    const struct fit_shares *f = context;
    int64_t most = 0;
    for (int64_t i = share; i < f->order.n; i += f->n_shares) {
        const struct fit_job *job = &f->jobs[f->order.job[i]];
        most = job->n_pixels > most ? job->n_pixels : most;
    }
    void *memory = malloc(fit_memory_size(most));
    if (!memory)
        return error_memory(error, "fitting sources");
    for (int64_t i = share; i < f->order.n; i += f->n_shares)
        f->kernel(f->pixels, &f->jobs[f->order.job[i]], memory);
    free(memory);
    return SRCFIND_OK;
}

enum srcfind_status cpu_fit(const struct fit_pixel *pixels, struct fit_job *jobs, int64_t n,
                            struct threads *threads, struct error *error) {
    const int64_t least = (n + JOBS_A_SHARE - 1) / JOBS_A_SHARE;
    const int64_t wanted = SHARES_A_THREAD * (int64_t)threads_count(threads);
    struct fit_shares f = {.pixels = pixels,
                           .jobs = jobs,
                           .n_shares = least > wanted ? least
                                       : wanted < n   ? wanted
                                                      : n,
                           .kernel = cpu_variant_choose()->fit};
    const enum srcfind_status status =
        fit_order_make(&f.order, jobs, n, threads)
            ? threads_try(threads, (int)f.n_shares, fit_share, &f, error)
            : error_memory(error, "fitting sources");
    fit_order_clear(&f.order);
    return status;
}
