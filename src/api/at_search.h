/* --at-search: sources that a list of positions lacks. */
#ifndef AT_SEARCH_H
#define AT_SEARCH_H

#include "api/search.h"

/* Searches the image of a search, whose positions are measured, less their Gaussians, with these
 * parameters, and adds the sources that it finds to those of the search: without an entry, and with
 * numbers behind the largest one. Errors: those of a search; pixels on a device. */
enum srcfind_status at_search_run(const struct search *search, const struct detection *detection);

#endif
