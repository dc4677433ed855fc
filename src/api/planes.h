/* Fluxes in the planes of other images (--measure-in). */
#ifndef PLANES_H
#define PLANES_H

#include "api/finder.h"
#include "api/input.h"
#include "output/result.h"

/* Checks that all images are there and have the grid and the unit of the image, whose metadata the
 * result has. */
enum srcfind_status planes_check(struct srcfind *finder, const struct input *input,
                                 struct result *result);

/* Measures the sources of a result in all planes of the images that the options of the finder name,
 * and sets the spectral columns. All threads read one plane after the other. */
enum srcfind_status planes_measure(struct srcfind *finder, const struct input *input,
                                   struct result *result);

#endif
