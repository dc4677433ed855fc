/* Figures that tell whether an image was searched in the right way. */
#ifndef QUALITY_H
#define QUALITY_H

#include "input/sampled.h"
#include "output/result.h"

enum { QUALITY_BRIGHT = 100 }; /* S/N of bright rows */

/* Sets the quality and the numbers of rows of a result, from a sample of the pixels and from
 * sources and image of the result. Without a sample (bits is NULL) figures of pixels are NaN. False
 * where memory ran out. */
bool quality_find(const struct sampled *sample, struct threads *threads, struct result *result);

#endif
