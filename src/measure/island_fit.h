/* The fits of an island: its pixels, with a margin, in groups of sources that are fitted together;
 * and what becomes of their results. */
#ifndef ISLAND_FIT_H
#define ISLAND_FIT_H

#include "backend/gaussian.h"
#include "measure/fit_parts.h"
#include "measure/margins.h"
#include "measure/run_pixels.h"

/* A margin, and its pixels, which are the first one and so on of both: what is fitted, and where
 * islands were found. */
struct margin_pixels {
    const struct margin *margin;
    const struct run_pixels *measured, *detected;
    int64_t first;
};

/* Which source of the divided island source i of a part's job is; -1: none, a fit added it. */
static inline int32_t island_fit_divided(const struct island_fit *fit, const struct fit_part *part,
                                         int64_t i) {
    const int32_t source = i < 0 ? -1 : fit->parts.sources[part->first_source + i];
    return source < fit->deblended->n - fit->deblended->n_added ? source : -1;
}

/* Margin pixels that are blank, or above `threshold` x their own rms and so another island's, are
 * left out. Widths have no bound yet but that of jobs. The fit is in the arena. `own` and
 * `deblended` must outlive it. */
bool island_fit_make(struct island_fit *fit, const struct island_pixels *own,
                     const struct deblended *deblended, const struct margin_pixels *margin,
                     double threshold, struct arena *arena);

/* Calls add(context, i, value) for the pixels of n, in the order of the image, that a Gaussian
 * reaches: in their order. */
void island_fit_for_each_pixel(const struct gaussian *g, const struct fit_pixel *pixels, int64_t n,
                               void (*add)(void *context, int64_t i, double value), void *context);

/* Makes a job of each part, whose pixels go to pixels[first] and so on. */
void island_fit_make_jobs(const struct island_fit *fit, const struct fit_frame *frame,
                          int64_t first, struct fit_pixel *pixels, struct fit_job *jobs);

/* Adds `sign` times the components of a job, part k's, to what the pixels of other parts have of
 * others. */
void island_fit_add_to_others(const struct island_fit *fit, const struct fit_frame *frame,
                              int64_t k, const struct fit_job *job, double sign);

/* Sets the pixels of part k's job to the image less the other parts. */
void island_fit_set_pixels(const struct island_fit *fit, int64_t k, const struct fit_job *job,
                           struct fit_pixel *pixels);

/* A source of an island: a fitted component, or where there is none a part of the deblended island.
 */
struct fitted_source {
    bool is_fitted, has_beam_shape;
    double lost; /* of its flux, as a share of it, by the beam's shape: see add_fitted */
    struct gaussian gaussian; /* in the map's unit and the pixels of the image */
    double peak;              /* the Gaussian's; without one that of the pixels */
    double pix_snr; /* of the deblended source that it comes from; if it was added, the island's */
    int32_t part, place; /* its part, and its place in the set of the part's job */
};

/* The sources after the fit, the brightest first. owner: which of them each of the island's own
 * pixels belongs to: the one whose Gaussian is highest there. */
struct fitted_sources {
    struct fitted_source *source;
    int64_t n;
    int32_t *owner;
    double residual_rms; /* over the island's own pixels, in the map's unit */
};

/* The result is in the arena. */
bool island_fit_finish(const struct island_fit *fit, const struct fit_frame *frame,
                       const struct fit_job *jobs, struct arena *arena,
                       struct fitted_sources *result);

#endif
