/* Forced photometry: amplitudes of shapes that are held at positions of an image. Rows of --at and
 * the planes of --measure-in are made of them. */
#ifndef FORCED_H
#define FORCED_H

#include "measure/places.h"
#include "measure/view.h"

/* A position in pixels, and its shape without the beam: FWHM and position angle in degrees; 0: a
 * point. */
struct forced_position {
    double x, y;
    struct srcfind_beam intrinsic;
};

/* An image, and the positions that are measured there; then what was found. */
struct forced {
    const struct view *view;         /* whose noise is known */
    const struct run_source *pixels; /* of the view */
    const struct fit_frame *frame;   /* with the beam; NULL: the nearest pixels alone are read */
    bool residuals;                  /* chi2 is wanted */
    const struct forced_position *positions;
    int64_t n;
    struct tensor beam;     /* second moments, pixels^2; 0 without a frame */
    struct tensor *moments; /* of the shape at each position; NaN: none */
    struct place *places;   /* of positions in the image; `row` is the position's index */
    int64_t n_places;
    struct place_pixels *known;   /* of each place, but for twins */
    struct amplitude *amplitudes; /* the same */
};

/* Whether a position is in an image of this size. */
bool forced_is_inside(const struct pixel_source *image, double x, double y);

/* Makes the places of the positions, as sources of their own: the caller may set source, weights
 * and is_wide before the fit. The first five members are set. Clear it also after an error: of
 * WCSLIB or memory. */
enum srcfind_status forced_begin(struct forced *forced, struct error *error);

/* Sorts the places, and fits their amplitudes by linear least squares: see places.h. */
enum srcfind_status forced_fit(struct forced *forced, struct threads *threads, struct error *error);
void forced_clear(struct forced *forced);

#endif
