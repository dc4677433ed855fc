/* The option negative: a second search, of the negated image. The clip, the interpolation of local
 * noise and every rounding are symmetric, so that it has the background of the first search with
 * the other sign, and the same rms. */
#ifndef NEGATIVE_H
#define NEGATIVE_H

#include "backend/backend.h"
#include "output/catalogue.h"

/* The detection in the negated image. */
struct detection negative_detection(const struct detection *detection);

/* Adds n rows of the negated image to the catalogue, after its own, as sources of the image itself.
 * False where memory ran out. */
bool negative_add(struct srcfind_catalogue *catalogue, const struct srcfind_source *rows,
                  int64_t n);

#endif
