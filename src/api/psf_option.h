/* The point-spread function that the option psf asks for. */
#ifndef PSF_OPTION_H
#define PSF_OPTION_H

#include "api/search.h"

/* Reads it from a file, or measures it: the image is then searched once before, as `search` would
 * do, for islands of the image alone. psf->psf has nodes where there is one, and psf->n the number
 * of points that were measured. Clear psf->psf also after an error: no beam is known, or those of
 * the file and of the search. */
enum srcfind_status psf_option_find(const struct search *search, const struct input *input,
                                    struct measured_psf *psf);

#endif
