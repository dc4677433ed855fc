/* The polynomials of TNX and ZPX, which IRAF writes as texts to WATi_001, WATi_002, ... */
#ifndef WAT_H
#define WAT_H

#include "input/fits/header.h"

/* Whether WCSLIB can read the polynomials of both axes, whose orders and number it does not check.
 */
bool wat_is_usable(const struct header *header);

/* Whether a card has a part of such a text. */
bool wat_has_part(const char *card);

/* Whether the text of axis 1 or 2 says that it has polynomials; others, as `wtype=tan`, have none.
 */
bool wat_has_polynomials(const struct header *header);

#endif
