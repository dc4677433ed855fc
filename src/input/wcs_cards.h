/* The cards of a header that WCSLIB gets. On other cards its parser and its copies of structs may
 * crash, hang, or write beyond their memory. */
#ifndef WCS_CARDS_H
#define WCS_CARDS_H

#include "input/fits/header.h"

/* Copies the cards that are known to be harmless: those of the primary coordinates, and of one
 * distortion (distortions.h). Records (DP1 = 'NAXES: 2') and alternate coordinates are left out.
 * The copy says that there are at least two axes. left_out, if not NULL, has SRCFIND_REASON
 * characters for the distortions that are left out. The caller frees the copy. NULL if memory ran
 * out. */
char *wcs_cards_make(const struct header *header, int *n_cards, char *left_out);

#endif
