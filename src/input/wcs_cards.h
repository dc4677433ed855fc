/* The cards of a header that WCSLIB gets. On other cards, valid or not, its parser or its copies of
 * structs may crash, hang, or write to foreign memory. */
#ifndef WCS_CARDS_H
#define WCS_CARDS_H

#include "input/fits/header.h"

/* Makes a copy of the cards that are known to be harmless: those of the primary coordinates, and of
 * one distortion (distortions.h). No record (DP1 = 'NAXES: 2') is among them, nor any card of
 * alternate coordinates. The header has at least two axes then. Where `left_out` is not NULL, it
 * gets SRCFIND_REASON characters on distortions that are left out. The caller frees the copy. NULL
 * if memory ran out. */
char *wcs_cards_make(const struct header *header, int *n_cards, char *left_out);

#endif
