/* Figures that tell whether an image was searched in the right way. */
#ifndef QUALITY_H
#define QUALITY_H

#include "input/sampled.h"
#include "output/result.h"

/* Sets the quality of a result, from a sample of the pixels and from sources and image of the
 * result. Without a sample (bits is NULL) figures of pixels are NaN. */
bool quality_find(const struct sampled *sample, struct result *result);

#endif
