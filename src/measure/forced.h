/* Forced photometry: amplitudes of shapes that are held at positions of an image. Rows of --at and
 * the planes of --measure-in are made of them. */
#ifndef FORCED_H
#define FORCED_H

#include "measure/held_shapes.h"
#include "measure/places.h"
#include "measure/view.h"

/* An image, and the positions that are measured there, which the caller sets; then what was found,
 * which is 0 at first. */
struct forced {
    const struct view *view;         /* whose noise is known */
    const struct run_source *pixels; /* of the view */
    const struct fit_frame *frame;   /* with the beam; NULL: the image is sampled */
    bool residuals;                  /* chi2 is wanted */
    bool positive;                   /* no amplitude is below 0 */
    const struct forced_position *positions;
    int64_t n;

    struct psf psf;         /* of the view; the beam's moments are 0 without a frame */
    struct tensor *moments; /* of the shape at each position; NaN: none */
    struct place *places;   /* of positions in the image; `row` is the position's index */
    int64_t n_places;
    struct place_pixels *known;   /* of each place, but for twins */
    struct amplitude *amplitudes; /* the same */
};

/* Whether a position is in an image of this size. */
bool forced_is_inside(const struct pixel_source *image, double x, double y);

/* Makes the places of the positions, as sources of their own: the caller may set source, weights
 * and is_wide before the fit. Clear it also after an error: of WCSLIB or memory. */
enum srcfind_status forced_begin(struct forced *forced, struct error *error);

/* Sorts the places, and fits their amplitudes by weighted least squares: see places.h. */
enum srcfind_status forced_fit(struct forced *forced, struct threads *threads, struct error *error);

/* The area of the shape at position i, convolved with the point-spread function, in pixels. */
double forced_area(const struct forced *forced, int64_t i);

void forced_clear(struct forced *forced);

#endif
