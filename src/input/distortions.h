/* Distortions of the sky coordinates of a header: which of them WCSLIB can apply, and which are
 * left out. Only these are applied, one at a time: the polynomials of SIP, those of TNX and ZPX,
 * the solution of a plate of the Digitized Sky Survey. */
#ifndef DISTORTIONS_H
#define DISTORTIONS_H

#include "input/fits/header.h"

/* The distortions of a header. */
struct distortions {
    /* The orders of the polynomials A_, B_, AP_ and BP_ of SIP; -1 where no such term is used. */
    int orders[4];
    bool has_sip, has_wat, has_plate; /* at most one is true: its cards are used */
    char left_out[112];               /* a list of the others; "" if there are none */
    bool has_tables_alone;            /* those left out are tables, as those of Hubble */
};

/* header: of cards that were repaired. */
void distortions_read(const struct header *header, struct distortions *distortions);

/* Whether a card is of the distortion that is used. */
bool distortions_use(const struct distortions *distortions, const char *card);

/* Spells a card that is used as WCSLIB reads it: the sign of a plate's declination has blanks
 * behind it, without which WCSLIB takes - for +. */
void distortions_spell(char *card);

/* Writes to `text`, of SRCFIND_REASON characters, which distortions are left out, and what this
 * does to positions; "" if none is. */
void distortions_describe(const struct distortions *distortions, char *text);

#endif
