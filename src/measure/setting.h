/* The values that are the same for all rows of an image. */
#ifndef SETTING_H
#define SETTING_H

#include "backend/backend.h"
#include "backend/fit.h"
#include "measure/fit_freedom.h"
#include "measure/fit_uncertainty.h"
#include "measure/view.h"

struct setting {
    const struct detection *detection;
    const struct noise_map *noise;
    double correlated; /* area over which noise is correlated if it is as the beam is; at least 1 */
    double point;      /* pixel sum of a point source / its peak: area of the beam, at least 1 */
    double to_flux;    /* flux / pixel sum */
    int64_t flags;
    double position_error;                 /* added to errors, in pixels of the image */
    struct fit_frame of_image;             /* its unit circle is the beam */
    struct psf psf;                        /* its nodes belong to the view */
    const struct correlation *correlation; /* of the noise, */
    struct noise_areas noise_areas;        /* and its areas */
    struct fit_frame frame;                /* of fits: its unit circle is the effective beam */
    struct fit_uncertainty of_point;       /* of a fit with its shape and a peak of 1 rms */
    struct grid grid; /* what the pixels are: of the image, or samples of a scale */
    double per_beam;  /* values of the map's unit times this are per effective beam */
};

/* The point-spread function of a view; the nodes belong to the view. */
struct psf setting_psf(const struct view *view, const struct fit_frame *frame);

/* frame: of fits in the image, see beam_frame.h. The view, which has its noise, must outlive the
 * setting. */
struct setting setting_make(const struct view *view, const struct fit_frame *frame);

/* Flux / sum over the pixels of the image. */
double setting_to_flux(const struct image *image, const struct srcfind_image *metadata);

/* The area over which noise is correlated if it is as the beam is, in pixels of the grid. */
double setting_correlated(const struct srcfind_image *metadata, const struct fit_frame *frame,
                          const struct grid *grid);

/* A row whose columns do not apply, but for its number, which is its island's, too. */
struct srcfind_source setting_empty_row(int64_t id);

/* Sets the size of a row in pixels by second moments (pixels^2); where these are NaN, by the
 * beam's. NaN where there is no beam either. */
void setting_size_in_pixels(const struct tensor *beam, const struct tensor *second,
                            struct srcfind_source *row);

/* Empties the columns of a row's pixels, for a source that has none. */
void setting_empty_pixels(struct srcfind_source *row);

#endif
