/* Fluxes in the planes of other images (--measure-in). */
#ifndef PLANES_H
#define PLANES_H

#include "api/finder.h"
#include "api/input.h"
#include "output/result.h"

/* Measures the sources of a catalogue in all planes of the images that the finder's options name,
 * each of which has the grid of the image, and sets the spectral columns of the catalogue. Planes
 * are read one after the other, by all threads, and none of them is held. */
enum srcfind_status planes_measure(struct srcfind *finder, const struct input *input,
                                   struct result *result);

#endif
