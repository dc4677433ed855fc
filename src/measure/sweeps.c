#include "measure/sweeps.h"

#include <stdlib.h>

/* The parts of a colour: their jobs, one island after the other. */
struct colour_jobs {
    const struct grouped_island *islands;
    int64_t n;
    const struct fit_frame *frame;
    struct fit_pixel *pixels;
    int32_t colour;
    struct fit_job *jobs;
    int64_t *first; /* of each island, in `jobs` */
    int64_t n_jobs;
};

/* Adds up the models of the start. */
static void add_start(void *context, int i) {
    const struct colour_jobs *s = context;
    const struct grouped_island *island = &s->islands[i];
    for (int64_t k = 0; k < island->fit->parts.n; k++)
        island_fit_add_to_others(island->fit, s->frame, k, &island->jobs[k], 1);
}

/* Copies the jobs of the colour. */
static void list_jobs(struct colour_jobs *s, bool is_first) {
    s->n_jobs = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const struct grouped_island *island = &s->islands[i];
        s->first[i] = s->n_jobs;
        for (int64_t k = 0; k < island->fit->parts.n; k++) {
            if (island->fit->parts.part[k].colour != s->colour)
                continue;
            s->jobs[s->n_jobs] = island->jobs[k];
            s->jobs[s->n_jobs++].is_first = is_first;
        }
    }
}

static void set_pixels(void *context, int i) {
    const struct colour_jobs *s = context;
    const struct grouped_island *island = &s->islands[i];
    for (int64_t k = 0; k < island->fit->parts.n; k++)
        if (island->fit->parts.part[k].colour == s->colour)
            island_fit_set_pixels(island->fit, k, &island->jobs[k], s->pixels);
}

/* Takes the results, and updates `others` of the island's other parts. */
static void take_results(void *context, int i) {
    const struct colour_jobs *s = context;
    const struct grouped_island *island = &s->islands[i];
    int64_t at = s->first[i];
    for (int64_t k = 0; k < island->fit->parts.n; k++) {
        if (island->fit->parts.part[k].colour != s->colour)
            continue;
        island_fit_add_to_others(island->fit, s->frame, k, &island->jobs[k], -1);
        island->jobs[k] = s->jobs[at++];
        island_fit_add_to_others(island->fit, s->frame, k, &island->jobs[k], 1);
    }
}

static enum srcfind_status sweep(struct colour_jobs *s, bool is_first, const struct fitter *fitter,
                                 struct threads *threads, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    int32_t n_colours = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->islands[i].fit->parts.n_colours > n_colours)
            n_colours = s->islands[i].fit->parts.n_colours;
    for (s->colour = 0; status == SRCFIND_OK && s->colour < n_colours; s->colour++) {
        list_jobs(s, is_first);
        threads_run(threads, (int)s->n, set_pixels, s);
        status =
            fitter->fit(fitter->context, s->frame, s->pixels, s->jobs, s->n_jobs, threads, error);
        if (status == SRCFIND_OK)
            threads_run(threads, (int)s->n, take_results, s);
    }
    return status;
}

enum srcfind_status sweeps_run(const struct grouped_island *islands, int64_t n,
                               const struct fit_frame *frame, struct fit_pixel *pixels,
                               const struct fitter *fitter, struct threads *threads,
                               struct error *error) {
    int64_t n_parts = 0;
    for (int64_t i = 0; i < n; i++)
        n_parts += islands[i].fit->parts.n;
    struct colour_jobs s = {.islands = islands,
                            .n = n,
                            .frame = frame,
                            .pixels = pixels,
                            .jobs = malloc((size_t)n_parts * sizeof *s.jobs + 1),
                            .first = malloc((size_t)n * sizeof *s.first + 1)};
    enum srcfind_status status = SRCFIND_OK;
    if (s.jobs && s.first)
        threads_run(threads, (int)n, add_start, &s);
    else
        status = error_memory(error, "fitting sources");
    if (status == SRCFIND_OK)
        status = sweep(&s, true, fitter, threads, error);
    if (status == SRCFIND_OK)
        status = sweep(&s, false, fitter, threads, error);
    free(s.jobs);
    free(s.first);
    return status;
}
