/* All that a catalogue has: a search, and then what follows it. */
#ifndef FIND_H
#define FIND_H

#include "api/search.h"
#include "output/result.h"

/* Finds the sources of an input, whose metadata the result has. The caller clears the
 * result, also after an error. */
enum srcfind_status find_catalogue(struct srcfind *finder, struct input *input,
                                   struct result *result);

/* Searches the views, and with the option negative the negated images, too. */
enum srcfind_status find_sources(const struct search *search);

#endif
