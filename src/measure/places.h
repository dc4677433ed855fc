/* Amplitudes of fixed shapes at places of an image. */
#ifndef PLACES_H
#define PLACES_H

#include "measure/amplitudes.h"

/* Whether a beam of these second moments is wider than the diagonal of an image of this size. */
bool place_beam_is_too_wide(const struct tensor *beam, int64_t width, int64_t height);

/* The FWHM above which a shape is too wide for an image of this size, and a beam of these second
 * moments: without the beam it is wider than the image's diagonal. */
double place_widest(const struct tensor *beam, int64_t width, int64_t height);

/* Makes a place with a shape of these second moments (pixels^2; NULL: a sample of the image). It
 * uses the pixels within one FWHM, in the directions of its shape. It is a source alone, without
 * weights. A shape with a FWHM above `widest` is left out. */
struct place place_make(double x, double y, const struct tensor *moments, double widest,
                        int64_t row);

/* Whether some pixels of a place are outside of an image of this size. */
bool place_is_cut(const struct place *place, int64_t width, int64_t height);

/* Sorts places as places_fit needs them, and finds twins: places with the same position and shape.
 * Without shapes there are no twins. */
void places_sort(struct place *places, int64_t n, bool has_shapes);

/* Sets the powers of the weights of places, and what follows of the noise, which the caller clears.
 * False where memory ran out. */
bool places_weigh(const struct fit_frame *frame, const struct correlation *noise,
                  struct place *places, int64_t n, struct place_noise *of_pairs);

/* How places are fitted. */
struct places_setting {
    const struct run_source *pixels;
    const struct fit_frame *frame;   /* the beam is its unit circle; NULL: no amplitudes are fitted,
                                        the image is sampled at the places */
    const struct correlation *noise; /* if amplitudes are fitted */
    bool residuals;                  /* chi2 is wanted */
    bool positive;                   /* no amplitude is below 0 */
};

/* Fits the amplitudes of n places, all in the image, by linear least squares. `known` and
 * `amplitudes` have n elements; those of twins are not set. Close places are fitted together: see
 * place_groups.h. Places of crowds are marked: see place_crowds.h. Errors: reading, memory. */
enum srcfind_status places_fit(const struct places_setting *setting, struct place *places,
                               int64_t n, struct threads *threads, struct place_pixels *known,
                               struct amplitude *amplitudes, struct error *error);

#endif
