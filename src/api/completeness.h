/* Which injected sources a search finds (option completeness). */
#ifndef API_COMPLETENESS_H
#define API_COMPLETENESS_H

#include "api/search.h"
#include "measure/injection.h"

/* Injects point sources of the beam's shape and, with scales, wider ones, or the sources of a file,
 * and searches the image once for each trial. `search` has searched the image: its views have their
 * noise, and its sources are those of the image alone. Its report gets the times of the trials. A
 * point source is found if a row within half of its FWHM is new, or its Peak_flux has risen by half
 * of the injected peak or more. A wider source is found if the Total_flux of the row has risen by
 * half of the injected flux or more, from 0 for a new row. The caller clears the list, also after
 * an error. */
enum srcfind_status completeness_measure(const struct search *search, struct injections *list);

#endif
