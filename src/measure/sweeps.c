/* How the parts of large islands are fitted, each from the pixels less the models of the others.
 *
 * 1. add_start: in the first sweep a part that is not fitted yet is subtracted from the others as
 *    points at its peaks.
 * 2. sweep, colour by colour (fit_parts.c): the parts of one colour are fitted at once, those of
 *    the next colour see their results. Free sweeps go on until the parts agree: a part is fitted
 *    again only if what it sees has changed since its last fit.
 * 3. The last sweep makes the whole fit of each part (backend/fit_island.h).
 *
 * Always: parts, colours and all sums are in the order of the parts, whatever the threads.
 *
 * Cost: a free fit is one least squares, a whole one several; MOST_FREE bounds the free ones. */
#include "measure/sweeps.h"

#include <stdlib.h>

enum { MOST_FREE = 3 };            /* free sweeps, the first one included */
static const double AGREED = 0.25; /* rms: parts that see no larger change agree */

/* The parts of a colour: their jobs, one island after the other. */
struct colour_jobs {
    const struct grouped_island *islands;
    int64_t n;
    struct fit_pixel *pixels;
    enum { FIRST_SWEEP, FREE_SWEEP, LAST_SWEEP } sweep;
    int32_t colour;
    struct fit_job *jobs;
    int64_t *first_part; /* of each island, in is_due */
    bool *is_due;        /* of each part: it is fitted in this sweep */
    int64_t *first;      /* of each island, in `jobs` */
    int64_t n_jobs;
};

/* Adds up the models of the start. */
static void add_start(void *context, int i) {
    const struct colour_jobs *s = context;
    const struct grouped_island *island = &s->islands[i];
    for (int64_t k = 0; k < island->fit->parts.n; k++)
        island_fit_add_to_others(island->fit, k, &island->jobs[k], 1);
}

/* Sets the pixels of an island's parts of this colour, and whether they are due. */
static void set_pixels(void *context, int i) {
    const struct colour_jobs *s = context;
    const struct grouped_island *island = &s->islands[i];
    for (int64_t k = 0; k < island->fit->parts.n; k++) {
        bool *const is_due = &s->is_due[s->first_part[i] + k];
        *is_due = island->fit->parts.part[k].colour == s->colour;
        if (!*is_due)
            continue;
        *is_due = s->sweep != FREE_SWEEP ||
                  island_fit_change(island->fit, k, &island->jobs[k], s->pixels) > AGREED;
        if (*is_due)
            island_fit_set_pixels(island->fit, k, &island->jobs[k], s->pixels);
    }
}

/* Copies the jobs that are due. */
static void list_jobs(struct colour_jobs *s) {
    s->n_jobs = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const struct grouped_island *island = &s->islands[i];
        s->first[i] = s->n_jobs;
        for (int64_t k = 0; k < island->fit->parts.n; k++) {
            if (!s->is_due[s->first_part[i] + k])
                continue;
            s->jobs[s->n_jobs] = island->jobs[k];
            s->jobs[s->n_jobs++].only_free = s->sweep != LAST_SWEEP;
        }
    }
}

/* Takes the results, and updates `others` of the island's other parts. */
static void take_results(void *context, int i) {
    const struct colour_jobs *s = context;
    const struct grouped_island *island = &s->islands[i];
    int64_t at = s->first[i];
    for (int64_t k = 0; k < island->fit->parts.n; k++) {
        if (!s->is_due[s->first_part[i] + k])
            continue;
        island_fit_add_to_others(island->fit, k, &island->jobs[k], -1);
        island->jobs[k] = s->jobs[at++];
        island_fit_add_to_others(island->fit, k, &island->jobs[k], 1);
    }
}

/* Fits the parts that are due, colour by colour. *n_fitted: their number. */
static enum srcfind_status sweep(struct colour_jobs *s, const struct fitter *fitter,
                                 struct threads *threads, int64_t *n_fitted, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    int32_t n_colours = 0;
    *n_fitted = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->islands[i].fit->parts.n_colours > n_colours)
            n_colours = s->islands[i].fit->parts.n_colours;
    for (s->colour = 0; status == SRCFIND_OK && s->colour < n_colours; s->colour++) {
        threads_run(threads, (int)s->n, set_pixels, s);
        list_jobs(s);
        if (s->n_jobs == 0)
            continue;
        *n_fitted += s->n_jobs;
        status = fitter->fit(fitter->context, s->pixels, s->jobs, s->n_jobs, threads, error);
        if (status == SRCFIND_OK)
            threads_run(threads, (int)s->n, take_results, s);
    }
    return status;
}

/* Makes all sweeps. */
static enum srcfind_status sweep_all(struct colour_jobs *s, const struct fitter *fitter,
                                     struct threads *threads, struct error *error) {
    int64_t n_fitted;
    s->sweep = FIRST_SWEEP;
    enum srcfind_status status = sweep(s, fitter, threads, &n_fitted, error);
    s->sweep = FREE_SWEEP;
    for (int i = 1; i < MOST_FREE && status == SRCFIND_OK && n_fitted > 0; i++)
        status = sweep(s, fitter, threads, &n_fitted, error);
    s->sweep = LAST_SWEEP;
    return status == SRCFIND_OK ? sweep(s, fitter, threads, &n_fitted, error) : status;
}

enum srcfind_status sweeps_run(const struct grouped_island *islands, int64_t n,
                               struct fit_pixel *pixels, const struct fitter *fitter,
                               struct threads *threads, struct error *error) {
    int64_t *const first_part = malloc((size_t)n * sizeof *first_part + 1);
    int64_t n_parts = 0;
    for (int64_t i = 0; first_part && i < n; i++) {
        first_part[i] = n_parts;
        n_parts += islands[i].fit->parts.n;
    }
    struct colour_jobs s = {.islands = islands,
                            .n = n,
                            .pixels = pixels,
                            .jobs = malloc((size_t)n_parts * sizeof *s.jobs + 1),
                            .first_part = first_part,
                            .is_due = malloc((size_t)n_parts * sizeof *s.is_due + 1),
                            .first = malloc((size_t)n * sizeof *s.first + 1)};
    enum srcfind_status status;
    if (s.jobs && s.first_part && s.is_due && s.first) {
        threads_run(threads, (int)n, add_start, &s);
        status = sweep_all(&s, fitter, threads, error);
    } else {
        status = error_memory(error, "fitting sources");
    }
    free(s.jobs);
    free(s.first_part);
    free(s.is_due);
    free(s.first);
    return status;
}
