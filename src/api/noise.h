/* Boxes of local noise, chosen by the options; the range of local noise, and the autocorrelation of
 * the noise, in a catalogue. */
#ifndef NOISE_H
#define NOISE_H

#include "backend/backend.h"
#include "common/threads.h"
#include "measure/correlation.h"
#include "options/options.h"

enum { STEPS_A_BOX = 3 };

/* The width of a box, in pixels, if the image is large enough: 15 beams, at least 48. */
double noise_wanted_box(const struct srcfind_image *image);

/* Sets box and step of a detection. With the option local alone, the box is as wide as wanted, and
 * at most half of the image's shorter side; if that is less than 48 pixels, there is one noise for
 * the whole image. There are no boxes where the noise is given. */
void noise_choose_box(const struct noise_choice *choice, const struct srcfind_image *image,
                      struct detection *detection);

/* BMAJ x BMIN in pixels^2, at least 4; 0 if the beam or the scale of pixels is not known. */
double noise_beam_squared(const struct srcfind_image *image);

/* Fills the members of a background that describe local noise, and the 10th and the 90th percentile
 * of the background of its nodes, in a quality; these are NaN without nodes. False where memory ran
 * out. */
bool noise_describe(const struct detection *detection, const struct noise_map *map,
                    struct threads *threads, struct srcfind_background *background,
                    struct srcfind_quality *quality);

/* Copies the autocorrelation of the noise for the user, who frees its values. False where memory
 * ran out. */
bool noise_describe_correlation(const struct correlation *correlation,
                                struct srcfind_correlation *described);

#endif
