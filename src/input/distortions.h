/* Distortions of the sky coordinates of a header: the one that WCSLIB applies, and those that are
 * left out. It is the polynomials of SIP, those of TNX or ZPX, or the solution of a plate of the
 * Digitized Sky Survey. */
#ifndef DISTORTIONS_H
#define DISTORTIONS_H

#include "input/fits/header.h"

/* The distortions of a header. */
struct distortions {
    /* The orders of the polynomials A_, B_, AP_ and BP_ of SIP; -1 for one without an order. */
    int orders[4];
    bool has_sip, has_wat, has_plate; /* the distortion that is used: at most one is true */
    char left_out[112];               /* a list of all others; "" for none */
    bool has_tables_alone;            /* all distortions left out are tables, as those of Hubble */
};

/* Finds the distortions of a header, whose cards were repaired. */
void distortions_read(const struct header *header, struct distortions *distortions);

/* Whether a card belongs to the distortion that is used. */
bool distortions_use(const struct distortions *distortions, const char *card);

/* Spells a card that is used for WCSLIB: without blanks behind the sign of the declination of a
 * plate, WCSLIB takes - for +. */
void distortions_spell(char *card);

/* Writes to `text`, of SRCFIND_REASON characters, which distortions are left out, and by how much
 * positions may be wrong; "" if none is left out. */
void distortions_describe(const struct distortions *distortions, char *text);

#endif
