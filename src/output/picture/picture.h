/* A picture of an image with its sources: grey levels of the pixels, an ellipse around each source,
 * the beam, a scale bar, a bar of the grey levels, and ticks of the coordinates. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdio.h>

#include "common/threads.h"
#include "input/image.h"
#include "output/result.h"

/* Whether pictures can be drawn: srcfind was built with cairo, and cairo can be loaded. If not,
 * error has the reason. */
bool picture_is_possible(struct error *error);

/* The version of cairo, "cairo 1.16.0", or why there is none: a static text. */
const char *picture_library(void);

/* The pixels of the longer side of the map in a picture, at most; the sheet around it has 280 more.
 */
enum { PICTURE_LEAST = 200, PICTURE_MOST = 1720 };

/* Draws the picture of a result as PNG. size: PICTURE_LEAST to PICTURE_MOST. Reads the image once.
 * `name` is for the error message. */
enum srcfind_status picture_write(const struct image *image, const struct result *result, int size,
                                  struct threads *threads, FILE *file, const char *name,
                                  struct error *error);

#endif
