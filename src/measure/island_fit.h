/* The fits of an island: jobs of its parts, and the sources that their results become. */
#ifndef ISLAND_FIT_H
#define ISLAND_FIT_H

#include "backend/gaussian.h"
#include "measure/fit_freedom.h"
#include "measure/fit_parts.h"
#include "measure/margins.h"
#include "measure/run_pixels.h"

/* A margin and its pixels, from index `first` on, in the measured and in the detection image. */
struct margin_pixels {
    const struct margin *margin;
    const struct run_pixels *measured, *detected;
    int64_t first;
};

/* The source of the division that source i of a part's job comes from; -1: a fit added it. */
static inline int32_t island_fit_divided(const struct island_fit *fit, const struct fit_part *part,
                                         int64_t i) {
    const int32_t source = i < 0 ? -1 : fit->parts.sources[part->first_source + i];
    return source < fit->deblended->n - fit->deblended->n_added ? source : -1;
}

/* Makes the fit of an island. Pixels of the margin that are blank, or above `threshold` x their rms
 * and so of another island, are left out. Widths are bounded only by the jobs. The fit is in the
 * arena. `island` and `deblended` must outlive it. */
bool island_fit_make(struct island_fit *fit, const struct island_pixels *island,
                     const struct deblended *deblended, const struct margin_pixels *margin,
                     double threshold, struct arena *arena);

/* Calls add(context, i, value) for each of n pixels, in the order of the image, that a Gaussian
 * reaches. */
void island_fit_for_each_pixel(const struct gaussian *g, const struct fit_pixel *pixels, int64_t n,
                               void (*add)(void *context, int64_t i, double value), void *context);

/* Makes a job of each part. The pixels of all parts go to pixels[first] and so on. */
void island_fit_make_jobs(const struct island_fit *fit, const struct fit_frame *frame,
                          int64_t first, struct fit_pixel *pixels, struct fit_job *jobs);

/* Adds `sign` times the components of part k's job to `others` at the pixels of other parts. */
void island_fit_add_to_others(const struct island_fit *fit, int64_t k, const struct fit_job *job,
                              double sign);

/* The largest change of a pixel of part k's job, in units of the rms, that island_fit_set_pixels
 * would make. */
double island_fit_change(const struct island_fit *fit, int64_t k, const struct fit_job *job,
                         const struct fit_pixel *pixels);

/* Sets the pixels of part k's job to the image less the other parts. */
void island_fit_set_pixels(const struct island_fit *fit, int64_t k, const struct fit_job *job,
                           struct fit_pixel *pixels);

/* A source of an island: a fitted component or, without one, a source of the division. */
struct fitted_source {
    bool is_fitted, has_beam_shape;
    double lost;        /* share of its flux that the beam's shape may have cost: see add_fitted */
    struct tensor free; /* second moments of its free shape, pixels^2; NaN: it had none */
    struct gaussian gaussian; /* in the map's unit and the pixels of the image */
    double peak;              /* of the Gaussian or, without one, of the pixels */
    double pix_snr; /* snr of the deblended source that it comes from; of the island, if a fit added
                       it */
    const struct fit_errors *errors; /* of a wide lone Gaussian, see grouped.c; else NULL */
    int32_t part, in_set;            /* its part, and its index in the set of the part's job */
    int32_t number;                  /* before the sources are sorted: in the order of the parts */
};

/* What a fit leaves of the pixels of a part, margin and all. */
struct fit_residual {
    double square;  /* the sum of (residual / rms)^2, with the rms at the island's highest pixel */
    double freedom; /* what noise alone leaves of that sum, on average: the number of pixels, less
                       what the fit takes (fit_freedom.h) */
};

struct part_residual {
    struct fit_residual residual;
    int64_t last; /* for who adds up parts of sources: the last source that has it; -1: none */
};

/* The sources after the fit, the brightest first. source_of: the source of each pixel of the
 * island, whose Gaussian is highest there. */
struct fitted_sources {
    struct fitted_source *source;
    int64_t n;
    int32_t *source_of;
    double residual_rms, residual_mean; /* over the pixels of the island, in the map's unit */
    struct part_residual *of_part;
};

/* The result is in the arena. */
bool island_fit_finish(const struct island_fit *fit, const struct fit_frame *frame,
                       const struct noise_areas *noise, const struct fit_job *jobs,
                       struct arena *arena, struct fitted_sources *result);

#endif
