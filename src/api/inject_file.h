/* The sources of a file for injection (option inject). */
#ifndef INJECT_FILE_H
#define INJECT_FILE_H

#include "api/injections.h"
#include "api/search.h"

/* Reads the file, and fills the list with a source for each entry: ids, widths and total fluxes;
 * and the positions with places and Gaussians, peaks in the measured image alone. Sources are added
 * that lie on pixels with a value and an rms and have a flux above 0, or as many of these as the
 * option completeness wants, which the seed chooses. Those of a trial are ten FWHM or more apart,
 * and at most one in INJECTION_AREAS times its area: there are as many trials as this takes. The
 * caller clears the list and frees *positions, also after an error. */
enum srcfind_status inject_file_read(const struct search *search,
                                     const struct injection_field *field, struct injections *list,
                                     struct injection_position **positions, struct error *error);

#endif
