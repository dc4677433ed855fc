/* Extent and moments of the pixels of components. */
#ifndef COMPONENT_PIXELS_H
#define COMPONENT_PIXELS_H

#include "measure/component.h"

/* Measures the pixels of n sources of an island, whose components have no pixels yet. detected: the
 * same pixels, in the detection image; source_of: the source of each pixel; NULL: all belong to the
 * only one. */
void component_pixels_measure(const struct island_pixels *pixels,
                              const struct island_pixels *detected, const int32_t *source_of,
                              int64_t n, struct component *components);

/* Sets peak and moments of an island which the detection could not measure: it has maps of the
 * noise, or another image is measured. */
void component_pixels_complete(const struct component_setting *setting,
                               const struct island_pixels *pixels,
                               const struct island_pixels *detected, struct island *island);

#endif
