/* The option negative: a second search, of the negated image. The clip, the interpolation of local
 * noise and every rounding are symmetric: the negated image has the same rms, and the background
 * with the other sign. */
#ifndef NEGATIVE_H
#define NEGATIVE_H

#include "api/search.h"

/* Searches the negated images of the views of a search, and appends the negative sources to its
 * sources. */
enum srcfind_status negative_search(const struct search *search);

#endif
