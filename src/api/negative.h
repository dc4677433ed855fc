/* The option negative: a second search, of the negated image. The clip, the interpolation of local
 * noise and every rounding are symmetric, so that it has the background of the first search with
 * the other sign, and the same rms. */
#ifndef NEGATIVE_H
#define NEGATIVE_H

#include "api/search.h"

/* Searches the negated images of the views of a search, and adds what is found to its sources,
 * after them, as negative sources of the images themselves. */
enum srcfind_status negative_search(const struct search *search);

#endif
