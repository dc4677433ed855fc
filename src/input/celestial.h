/* The celestial axes of a header, set up for WCSLIB: which cards can be used, what programs write
 * that is not standard, and why there is no sky. */
#ifndef CELESTIAL_H
#define CELESTIAL_H

#include "input/fits/header.h"

struct wcsprm;

/* Sets *sky to WCSLIB's coordinates for the first two axes: those of the sky, in either order. It
 * has these two alone, unless they depend on further ones: then it has all. primary: WCSLIB's
 * reading of the header, not set up; it is changed. NULL: there is none. *sky is NULL if there are
 * no coordinates of the sky that can be used, which is not an error. Then `reason`, of
 * SRCFIND_REASON characters, says why, and how to mend it: "" if no CTYPE is there. The caller
 * frees *sky by wcs_part_free. */
enum srcfind_status celestial_set_up(const struct header *header, struct wcsprm *primary,
                                     struct wcsprm **sky, char *reason, struct error *error);

/* The axis of latitudes, where the first two axes are those of the sky: 0 or 1. */
int celestial_latitude(const struct wcsprm *prm);

/* The area of a pixel of what was set up, at the reference point, in square degrees. */
double celestial_pixel_area(const struct wcsprm *sky);

#endif
