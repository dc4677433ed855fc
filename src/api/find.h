/* All that a catalogue has: a search, and then what follows it. */
#ifndef FIND_H
#define FIND_H

#include "api/search.h"
#include "output/catalogue.h"

/* Finds the sources of an input, whose metadata the catalogue has. The caller destroys the
 * catalogue, also after an error. */
enum srcfind_status find_catalogue(struct srcfind *finder, struct input *input,
                                   struct srcfind_catalogue *catalogue);

/* Searches the views, and with the option negative the negated images, too. *n_negative: rows of
 * these, which are the last ones. */
enum srcfind_status find_sources(const struct search *search, int64_t *n_negative);

#endif
