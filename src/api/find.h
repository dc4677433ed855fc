/* Makes a result: a search, then trials of completeness, the negated image, planes, quality and
 * notes. */
#ifndef FIND_H
#define FIND_H

#include "api/search.h"
#include "output/result.h"

/* Fills a result, which has the metadata of the input. The caller clears the result, also after an
 * error. */
enum srcfind_status find_catalogue(struct srcfind *finder, struct input *input,
                                   struct result *result);

/* Searches the views, and with the option negative the negated images, too. */
enum srcfind_status find_sources(const struct search *search);

#endif
