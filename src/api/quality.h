/* Figures that tell whether an image was searched in the right way. */
#ifndef QUALITY_H
#define QUALITY_H

#include "input/sampled.h"
#include "output/result.h"

/* Fills a catalogue's quality, from a sample of the pixels and from the catalogue's sources and
 * image. Without a sample (bits is NULL) what it tells is NaN. False where memory ran out. */
bool quality_find(const struct sampled *sample, struct result *catalogue);

#endif
