#include "cpu/fit.h"

#include <stdlib.h>

#include "cpu/variants.h"

enum { JOBS_A_SHARE = 16, SHARES_A_THREAD = 4 }; /* most jobs that a thread takes at a time */

struct fit_shares {
    const struct fit_pixel *pixels;
    struct fit_job *jobs;
    int64_t n, a_share;
    fit_kernel *kernel;
};

static enum srcfind_status fit_share(void *context, int share, struct error *error) {
    const struct fit_shares *f = context;
    const int64_t first = share * f->a_share;
    const int64_t end = first + f->a_share < f->n ? first + f->a_share : f->n;
    int64_t most = 0;
    for (int64_t i = first; i < end; i++)
        most = f->jobs[i].n_pixels > most ? f->jobs[i].n_pixels : most;
    void *memory = malloc(fit_memory_size(most));
    if (!memory)
        return error_memory(error, "fitting sources");
    for (int64_t i = first; i < end; i++)
        f->kernel(f->pixels, &f->jobs[i], memory);
    free(memory);
    return SRCFIND_OK;
}

enum srcfind_status cpu_fit(const struct fit_pixel *pixels, struct fit_job *jobs, int64_t n,
                            struct threads *threads, struct error *error) {
    struct fit_shares f = {.pixels = pixels,
                           .jobs = jobs,
                           .n = n,
                           .a_share = n / (SHARES_A_THREAD * threads_count(threads)),
                           .kernel = cpu_variant_choose()->fit};
    f.a_share = f.a_share < 1 ? 1 : f.a_share < JOBS_A_SHARE ? f.a_share : JOBS_A_SHARE;
    return threads_try(threads, (int)((n + f.a_share - 1) / f.a_share), fit_share, &f, error);
}
