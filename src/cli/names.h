/* The names of an image's outputs, without directory and suffix. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Names n images, each by its STEM: mosaic for a/P1/mosaic.fits. If two of them have the same, each
 * name is as much of the path as differs: P1/mosaic. Maps that srcfind made do not count there,
 * since they are skipped among images. The names are to be freed, also after an error. False where
 * memory ran out. */
bool names_make(char *const *images, int64_t n, char **names);

#endif
