/* Which of the sources that are added to an image the same search finds (option completeness). */
#ifndef API_COMPLETENESS_H
#define API_COMPLETENESS_H

#include "api/search.h"
#include "measure/injection.h"

/* Adds point sources of the beam's shape and, with scales, wider ones, and searches the image once
 * for each of the trials. `search` is the search of the image, whose views have their noise and
 * whose sources are those without any that is added; it is repeated with other pixels, and its
 * report gets the times. A point source is found if a row lies within half of its FWHM that was not
 * there before, or whose Peak_flux has risen by half of the injected one or more; a wider source,
 * if the Total_flux of a row has risen so, from 0 where it was not there. The caller frees
 * list->all, also after an error. */
enum srcfind_status completeness_measure(const struct search *search, struct injections *list);

#endif
