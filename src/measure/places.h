/* Amplitudes of shapes that are held at places of an image. */
#ifndef PLACES_H
#define PLACES_H

#include "measure/amplitudes.h"

/* Whether a beam of these second moments is wider than the diagonal of an image of this size. */
bool place_beam_is_too_wide(const struct tensor *beam, int64_t width, int64_t height);

/* The FWHM above which a shape is too wide for an image of this size, and a beam of these second
 * moments: without the beam it is wider than the image's diagonal. */
double place_widest(const struct tensor *beam, int64_t width, int64_t height);

/* A place with a shape of these second moments (pixels^2; NULL: the nearest pixel alone), whose
 * pixels are those within one FWHM of it, in its directions. It is its own source, without
 * weights. A FWHM above `widest` is too wide. */
struct place place_make(double x, double y, const struct tensor *moments, double widest,
                        int64_t row);

/* Whether a part of the pixels of a place is outside of an image of this size. */
bool place_is_cut(const struct place *place, int64_t width, int64_t height);

/* Sorts places as places_fit takes them, and finds twins; has_shapes: places with the same position
 * and shape are twins. */
void places_sort(struct place *places, int64_t n, bool has_shapes);

/* How places are fitted. */
struct places_setting {
    const struct run_source *pixels;
    const struct fit_frame *frame; /* in which the beam is the unit circle; NULL: no amplitudes are
                                      fitted, the nearest pixels alone are read */
    bool residuals;                /* the squares of the residuals are wanted */
};

/* Sets what is known and found of n places, all of them in the image, by linear least squares;
 * `known` and `found` have n elements, of which that of a twin is not set. Places that are close
 * are fitted together: see place_groups.h. Places of crowds are marked: see place_crowds.h. Errors:
 * reading, memory. */
enum srcfind_status places_fit(const struct places_setting *setting, struct place *places,
                               int64_t n, struct threads *threads, struct place_pixels *known,
                               struct amplitude *amplitudes, struct error *error);

#endif
