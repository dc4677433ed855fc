/* The celestial axes of a header, set up for WCSLIB after checks and repairs, or the reason why
 * they cannot be used. */
#ifndef CELESTIAL_H
#define CELESTIAL_H

#include "input/fits/header.h"

struct wcsprm;

/* Sets *sky to WCSLIB's coordinates of the first two axes, longitude and latitude in either order,
 * or of all axes if these two depend on others. primary: the header as WCSLIB has read it, not set
 * up, which is changed; NULL if there is none. If no sky coordinates can be used, *sky is NULL,
 * which is no error, and `reason`, of SRCFIND_REASON characters, says why and how to correct it; ""
 * if there is no CTYPE. The caller frees *sky by wcs_part_free. */
enum srcfind_status celestial_set_up(const struct header *header, struct wcsprm *primary,
                                     struct wcsprm **sky, char *reason, struct error *error);

/* The axis of latitudes, 0 or 1, if the first two axes are those of the sky. */
int celestial_latitude(const struct wcsprm *prm);

/* The area of a pixel at the reference point, in square degrees. */
double celestial_pixel_area(const struct wcsprm *sky);

#endif
