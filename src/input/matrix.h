/* The matrix from pixels to world coordinates, in each of its spellings: PC and CDELT, CD, CDELT
 * and CROTA. */
#ifndef MATRIX_H
#define MATRIX_H

#include "input/fits/header.h"

struct wcsprm;

/* The most axes that are converted. WCSLIB's own limit is 32. */
enum { MOST_AXES = 32 };

/* If the header has CD, completes the rows of CD that have no card, or also cards of PC, by CDELT,
 * PC and CROTA: WCSLIB would take such rows as 0, or ignore CD for all axes. prm: WCSLIB's reading
 * of the header. lat: the axis of latitudes, 0 or 1, whose CROTA counts. */
void matrix_complete(const struct header *header, int lat, struct wcsprm *prm);

/* Whether CDELT, or the rows of CD, of axes 1 and 2 are not 0. If it has not, `reason`, of
 * SRCFIND_REASON characters, says so. */
bool matrix_has_scales(const struct wcsprm *prm, char *reason);

/* Whether the matrix has no inverse: wcsset() would lose memory. True of more axes than
 * MOST_AXES. */
bool matrix_is_singular(const struct wcsprm *prm);

/* Whether the world coordinates on axes 1 and 2 depend on further axes. */
bool matrix_mixes_axes(const struct wcsprm *prm);

/* Removes what axes 1 and 2 have to do with further ones. */
void matrix_separate(struct wcsprm *prm);

/* Puts CDELT, and the units of axes 1 and 2, into the matrix, which has degrees then. The units
 * are angles or missing. lat: as above. */
void matrix_to_degrees(int lat, struct wcsprm *prm);

#endif
